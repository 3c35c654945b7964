package config

import (
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Restart says how often a plugin that ended is started again; missing fields are the host's
// defaults.
type Restart struct {
	Max    *int   `yaml:"max"`    // restarts within the window
	Window string `yaml:"window"` // in which restarts are counted
	First  string `yaml:"first"`  // the first pause before a restart; it doubles
	Most   string `yaml:"most"`   // the longest pause
}

// Breaker says when a running plugin that keeps failing is left alone.
type Breaker struct {
	After *int   `yaml:"after"` // failures in a row
	Open  string `yaml:"open"`  // the first pause; it doubles
	Most  string `yaml:"most"`  // the longest pause
}

// Span is a duration setting with bounds.
type Span struct {
	name, text  string
	least, most time.Duration
}

func (s Span) problem(at string) *yamlfile.Problem {
	if s.text == "" {
		return nil
	}
	d, err := time.ParseDuration(s.text)
	if err != nil || d < s.least || d > s.most {
		return yamlfile.Problemf(at+"."+s.name, "%q is not a duration between %s and %s", s.text, short(s.least), short(s.most))
	}
	return nil
}

// Duration is 0, which means the default, if nothing is set.
func (s Span) Duration() time.Duration {
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

func (r *Restart) spans() (window, first, most Span) {
	window = Span{"window", r.Window, time.Second, 24 * time.Hour}
	first = Span{"first", r.First, 10 * time.Millisecond, time.Hour}
	most = Span{"most", r.Most, max(first.Duration(), first.least), time.Hour}
	return window, first, most
}

func (b *Breaker) spans() (open, most Span) {
	open = Span{"open", b.Open, 100 * time.Millisecond, 24 * time.Hour}
	return open, Span{"most", b.Most, max(open.Duration(), open.least), 24 * time.Hour}
}

// Upper limits of a plugin's policies.
const (
	MaxRestarts   = 100
	MaxBreakAfter = 20
)

// policyProblem checks the policies of the plugin at that path in the file.
func (p Plugin) policyProblem(at string) *yamlfile.Problem {
	var spans []Span
	if r := p.Restart; r != nil {
		if r.Max != nil && (*r.Max < 1 || *r.Max > MaxRestarts) {
			return yamlfile.Problemf(at+".restart.max", "%d is not between 1 and %d", *r.Max, MaxRestarts)
		}
		window, first, most := r.spans()
		spans = []Span{window, first, most}
	}
	for _, s := range spans {
		if problem := s.problem(at + ".restart"); problem != nil {
			return problem
		}
	}
	if b := p.Breaker; b != nil {
		if b.After != nil && (*b.After < 1 || *b.After > MaxBreakAfter) {
			return yamlfile.Problemf(at+".breaker.after", "%d is not between 1 and %d", *b.After, MaxBreakAfter)
		}
		open, most := b.spans()
		if problem := open.problem(at + ".breaker"); problem != nil {
			return problem
		}
		return most.problem(at + ".breaker")
	}
	return nil
}

// Policies converts the entry's policies to the host's form.
func (p Plugin) Policies() (r host.RestartPolicy, b host.BreakerPolicy) {
	if p.Restart != nil {
		window, first, most := p.Restart.spans()
		r = host.RestartPolicy{Window: window.Duration(), First: first.Duration(), Most: most.Duration()}
		if p.Restart.Max != nil {
			r.Max = *p.Restart.Max
		}
	}
	if p.Breaker != nil {
		open, most := p.Breaker.spans()
		b = host.BreakerPolicy{Open: open.Duration(), Most: most.Duration()}
		if p.Breaker.After != nil {
			b.After = *p.Breaker.After
		}
	}
	return r, b
}
