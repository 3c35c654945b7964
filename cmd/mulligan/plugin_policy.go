package main

import (
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/host"
)

// restartEntry says how often a plugin that ended is started again; what it leaves
// out is the host's default.
type restartEntry struct {
	Max    *int   `yaml:"max"`    // within the window
	Window string `yaml:"window"` //
	First  string `yaml:"first"`  // the first pause before a restart; it doubles
	Most   string `yaml:"most"`   // the longest pause
}

// breakerEntry says when a plugin that runs and yet fails is left alone.
type breakerEntry struct {
	After *int   `yaml:"after"` // failures in a row
	Open  string `yaml:"open"`  // the first pause; it doubles
	Most  string `yaml:"most"`  // the longest pause
}

// span is a setting that is a duration within bounds.
type span struct {
	name, text  string
	least, most time.Duration
}

func (s span) problem(at string) *problem {
	if s.text == "" {
		return nil
	}
	d, err := time.ParseDuration(s.text)
	if err != nil || d < s.least || d > s.most {
		return problemf(at+"."+s.name, "%q is not a duration between %s and %s", s.text, short(s.least), short(s.most))
	}
	return nil
}

// duration is 0, the default, where nothing is set.
func (s span) duration() time.Duration {
	d, _ := time.ParseDuration(s.text)
	return d
}

// short is a whole duration as a person writes it: 24h, 10m, 250ms.
func short(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d >= unit.size && d%unit.size == 0 {
			return fmt.Sprintf("%d%s", d/unit.size, unit.name)
		}
	}
	return d.String()
}

func (r *restartEntry) spans() (window, first, most span) {
	window = span{"window", r.Window, time.Second, 24 * time.Hour}
	first = span{"first", r.First, 10 * time.Millisecond, time.Hour}
	most = span{"most", r.Most, max(first.duration(), first.least), time.Hour}
	return window, first, most
}

func (b *breakerEntry) spans() (open, most span) {
	open = span{"open", b.Open, 100 * time.Millisecond, 24 * time.Hour}
	return open, span{"most", b.Most, max(open.duration(), open.least), 24 * time.Hour}
}

const (
	maxRestarts   = 100
	maxBreakAfter = 20
)

// policyProblem finds what is wrong with the policies of the plugin at that path.
func (p pluginEntry) policyProblem(at string) *problem {
	var spans []span
	if r := p.Restart; r != nil {
		if r.Max != nil && (*r.Max < 1 || *r.Max > maxRestarts) {
			return problemf(at+".restart.max", "%d is not between 1 and %d", *r.Max, maxRestarts)
		}
		window, first, most := r.spans()
		spans = []span{window, first, most}
	}
	for _, s := range spans {
		if problem := s.problem(at + ".restart"); problem != nil {
			return problem
		}
	}
	if b := p.Breaker; b != nil {
		if b.After != nil && (*b.After < 1 || *b.After > maxBreakAfter) {
			return problemf(at+".breaker.after", "%d is not between 1 and %d", *b.After, maxBreakAfter)
		}
		open, most := b.spans()
		if problem := open.problem(at + ".breaker"); problem != nil {
			return problem
		}
		return most.problem(at + ".breaker")
	}
	return nil
}

// policies are the entry's in the host's terms.
func (p pluginEntry) policies() (r host.RestartPolicy, b host.BreakerPolicy) {
	if p.Restart != nil {
		window, first, most := p.Restart.spans()
		r = host.RestartPolicy{Window: window.duration(), First: first.duration(), Most: most.duration()}
		if p.Restart.Max != nil {
			r.Max = *p.Restart.Max
		}
	}
	if p.Breaker != nil {
		open, most := p.Breaker.spans()
		b = host.BreakerPolicy{Open: open.duration(), Most: most.duration()}
		if p.Breaker.After != nil {
			b.After = *p.Breaker.After
		}
	}
	return r, b
}
