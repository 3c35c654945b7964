package timers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// noon is when bubbles begin to play.
var noon = time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)

// scene is what is played.
type scene struct {
	turns  []turn
	timers recovery.Settings // of the run; nil = what is built in
	auto   bool
	tools  []runner.Tool
	hook   hooks.Func // nil = the auto-recover policy
	log    timeline.Log
	models []string // besides the entry's; they answer as it does
	change func(*recovery.Policy)
	online runner.Connectivity
}

// performance is a scene that is being played.
type performance struct {
	*stage
	t      *testing.T
	scene  scene
	runner *runner.Runner
	log    timeline.Log
	run    *runner.Run
	began  time.Time

	mu  sync.Mutex
	saw []hooks.RunError
}

// perform begins a scene inside a bubble, where it is made, and hands it to watch.
func perform(t *testing.T, e entry, write func() scene, watch func(p *performance)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon))
		sc := write()
		p := &performance{stage: open(e, sc.turns...), t: t, scene: sc, log: sc.log}
		defer p.close()
		if p.log == nil {
			p.log = timeline.NewMemory()
		}
		p.runner = runner.New(p.options()...)
		p.began = time.Now()
		run, err := p.runner.Start(t.Context(), runner.Request{Prompt: "How is the weather in Oslo?", Timeouts: sc.timers})
		if err != nil {
			t.Error(err)
			return
		}
		p.run = run
		watch(p)
	})
}

func (p *performance) options() []runner.Option {
	model := p.model(p.t)
	options := []runner.Option{
		runner.WithLog(p.log), runner.WithModel(p.entry.model(), model), runner.WithAutoRecover(p.scene.auto),
		runner.WithTools(p.scene.tools...), runner.WithHook("auto-recover", hooks.Func(p.advise)),
		runner.WithSleep(func() time.Duration { return 0 }), // the machine of the test may sleep, its bubbles do not
		runner.WithPolicy(func(policy *recovery.Policy) { policy.Timeouts = p.entry.builtIn() }),
	}
	for _, name := range p.scene.models {
		options = append(options, runner.WithModel(p.entry.name+"/"+name, model))
	}
	if p.scene.change != nil {
		options = append(options, runner.WithPolicy(p.scene.change))
	}
	if p.scene.online != nil {
		options = append(options, runner.WithConnectivity(p.scene.online))
	}
	return options
}

// builtIn is spec §3's column of defaults.
func (e entry) builtIn() recovery.Timeouts {
	t := recovery.DefaultPolicy().Timeouts
	if e.local {
		t.FirstEvent, t.Bytes, t.Idle = 300_000, 300_000, 0
	}
	return t
}

// advise notes what the hook sees, and says what the auto-recover plugin says.
func (p *performance) advise(ctx context.Context, e hooks.RunError) (recovery.Vote, error) {
	p.mu.Lock()
	p.saw = append(p.saw, e)
	p.mu.Unlock()
	if p.scene.hook != nil {
		return p.scene.hook(ctx, e)
	}
	return autoRecover(ctx, e)
}

// autoRecover is the auto-recover plugin without dice.
func autoRecover(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	return autorecover.Decide(autorecover.DefaultConfig(), autorecover.InputOf(e, time.Now()), 0), nil
}

// since is how long ago the run began.
func (p *performance) since() time.Duration { return time.Since(p.began) }

func (p *performance) events() []recovery.Event {
	events, err := p.log.Read(context.WithoutCancel(p.t.Context()), p.run.ID(), 0, 0)
	if err != nil {
		p.t.Error(err)
	}
	return events
}

func (p *performance) state() *recovery.Run {
	run, err := recovery.Fold(p.events())
	if err != nil {
		p.t.Error(err)
		return &recovery.Run{}
	}
	return run
}

// failures are the run's, in their order.
func (p *performance) failures() []failure.Failure {
	var list []failure.Failure
	for _, e := range p.events() {
		if b, ok := e.Body.(recovery.Failed); ok {
			list = append(list, b.Failure)
		}
	}
	return list
}

// lines are what people were told from the event of that type on.
func (p *performance) lines(types ...string) []string {
	var list []string
	for _, e := range p.events() {
		for _, t := range types {
			if e.Type() == t && e.Text != "" {
				list = append(list, e.Text)
			}
		}
	}
	return list
}

// outcome is what has become of a scene, in words: a row of the report.
type outcome struct {
	Failure  string // kind and code
	Timer    string // and phase
	Words    string
	Hook     string // what it saw
	End      string
	Requests int
	After    time.Duration // until the run had settled
}

// play plays a scene to its end. A suggestion is answered with "stop", and a parked run
// is resumed at its time.
func play(t *testing.T, e entry, sc scene) (o outcome) {
	t.Helper()
	perform(t, e, func() scene { return sc }, func(p *performance) {
		result, err := p.run.Wait(context.Background())
		o.After = p.since()
		time.Sleep(time.Hour) // for requests that nobody should make
		o.Requests = p.asked()
		if errors.Is(err, runner.ErrParked) {
			o.End = p.resumed(result.State.Wait.Until)
			o.Requests = p.asked()
		} else {
			o.End = p.settled(err)
		}
		failures := p.failures()
		o.Failure = distinct(failures, func(f failure.Failure) string { return string(f.Kind) + " " + string(f.Code) })
		o.Timer = distinct(failures, func(f failure.Failure) string { return strings.TrimPrefix(string(f.Timer)+", "+string(f.Phase), ", ") })
		o.Words = distinct(failures, func(f failure.Failure) string { return f.Line() })
		o.Hook = p.hookSaw()
	})
	return o
}

// settled is how the run ended, or will when its suggestion is answered.
func (p *performance) settled(err error) string {
	failed, ok := errors.AsType[*runner.Error](err)
	if !ok {
		return string(p.state().Status)
	}
	if failed.Suggestion == nil {
		return "failed: " + p.state().End.StopReason
	}
	end := "suggests " + string(failed.Suggestion.SuggestedAction)
	if failed.Suggestion.BlockedBy != "" {
		end += " (" + failed.Suggestion.BlockedBy + ")"
	}
	asked := p.asked()
	run, err := p.runner.Recover(p.t.Context(), p.run.ID(), runner.Answer{Action: recovery.ButtonStop})
	if err != nil {
		p.t.Error(err)
		return end
	}
	_, _ = run.Wait(context.Background())
	if p.asked() != asked {
		p.t.Errorf("after the stop there were %d more requests", p.asked()-asked)
	}
	return end + "; stopped: " + p.state().End.StopReason
}

// resumed goes on with a parked run when it is due.
func (p *performance) resumed(due time.Time) string {
	time.Sleep(time.Until(due))
	run, err := p.runner.Resume(p.t.Context(), p.run.ID())
	if err != nil {
		p.t.Error(err)
		return "parked"
	}
	_, err = run.Wait(context.Background())
	return fmt.Sprintf("parked; resumed after %s: %s", words.Spell(p.since()), p.settled(err))
}

// hookSaw is what the hook was told at each failure.
func (p *performance) hookSaw() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.saw) == 0 {
		return "not asked"
	}
	what := distinct(p.saw, func(e hooks.RunError) string {
		f := e.Failure
		said := string(f.Kind)
		if f.Timer != "" {
			said = string(f.Timer)
		}
		said += " after " + words.Spell(f.Elapsed.Duration())
		if f.LastStep != "" {
			said += "; last: " + f.LastStep + ", " + words.Spell(f.LastStepElapsed.Duration())
		}
		return said
	})
	var silences []string
	for _, e := range p.saw {
		silences = append(silences, fmt.Sprint(e.IdleExpiries))
	}
	return what + "; silences: " + strings.Join(silences, ", ")
}

// distinct are the different descriptions of all of list, in order.
func distinct[T any](list []T, describe func(T) string) string {
	var all []string
	for _, item := range list {
		if d := describe(item); len(all) == 0 || all[len(all)-1] != d {
			all = append(all, d)
		}
	}
	return strings.Join(all, " / ")
}
