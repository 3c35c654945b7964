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

// noon is when a bubble begins to play; it sleeps until then.
var noon = time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)

// scenario is what is played.
type scenario struct {
	turns  []turn
	timers recovery.Settings // of the run; nil = the defaults
	auto   bool
	tools  []runner.Tool
	hook   hooks.Func // nil = the auto-recover policy
	log    timeline.Log
	models []string // further models; they answer as the entry's does
	change func(*recovery.Policy)
	online runner.Connectivity
}

// playedRun is a scenario that is being played.
type playedRun struct {
	*scriptedProvider
	t        *testing.T
	scenario scenario
	runner   *runner.Runner
	log      timeline.Log
	run      *runner.Run
	began    time.Time

	mu  sync.Mutex
	saw []hooks.RunError
}

// drive begins a scenario inside a bubble, calling write there, and passes it to watch.
func drive(t *testing.T, e entry, write func() scenario, watch func(p *playedRun)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon))
		sc := write()
		p := &playedRun{scriptedProvider: open(e, sc.turns...), t: t, scenario: sc, log: sc.log}
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

func (p *playedRun) options() []runner.Option {
	model := p.model(p.t)
	options := []runner.Option{
		runner.WithLog(p.log), runner.WithModel(p.entry.model(), model), runner.WithAutoRecover(p.scenario.auto),
		runner.WithTools(p.scenario.tools...), runner.WithHook("auto-recover", hooks.Func(p.advise)),
		runner.WithSleep(func() time.Duration { return 0 }), // the test's machine may sleep, its bubbles do not
		runner.WithPolicy(func(policy *recovery.Policy) { policy.Timeouts = p.entry.builtIn() }),
	}
	for _, name := range p.scenario.models {
		options = append(options, runner.WithModel(p.entry.name+"/"+name, model))
	}
	if p.scenario.change != nil {
		options = append(options, runner.WithPolicy(p.scenario.change))
	}
	if p.scenario.online != nil {
		options = append(options, runner.WithConnectivity(p.scenario.online))
	}
	return options
}

// builtIn is the column of defaults in spec §3.
func (e entry) builtIn() recovery.Timeouts {
	t := recovery.DefaultPolicy().Timeouts
	if e.local {
		t.FirstEvent, t.Bytes, t.Idle = 300_000, 300_000, 0
	}
	return t
}

// advise records what the hook sees, and answers as the auto-recover plugin does.
func (p *playedRun) advise(ctx context.Context, e hooks.RunError) (recovery.Vote, error) {
	p.mu.Lock()
	p.saw = append(p.saw, e)
	p.mu.Unlock()
	if p.scenario.hook != nil {
		return p.scenario.hook(ctx, e)
	}
	return autoRecover(ctx, e)
}

// autoRecover is the auto-recover plugin without jitter.
func autoRecover(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	return autorecover.Decide(autorecover.DefaultConfig(), autorecover.InputOf(e, time.Now()), 0), nil
}

// since is how long ago the run began.
func (p *playedRun) since() time.Duration { return time.Since(p.began) }

func (p *playedRun) events() []recovery.Event {
	events, err := p.log.Read(context.WithoutCancel(p.t.Context()), p.run.ID(), 0, 0)
	if err != nil {
		p.t.Error(err)
	}
	return events
}

func (p *playedRun) state() *recovery.Run {
	run, err := recovery.Fold(p.events())
	if err != nil {
		p.t.Error(err)
		return &recovery.Run{}
	}
	return run
}

// failures are the run's failures, in order.
func (p *playedRun) failures() []failure.Failure {
	var list []failure.Failure
	for _, e := range p.events() {
		if b, ok := e.Body.(recovery.Failed); ok {
			list = append(list, b.Failure)
		}
	}
	return list
}

// lines are what people were told from the first event of one of the types on.
func (p *playedRun) lines(types ...string) []string {
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

// outcome is what happened in a scenario, in words: a row of the report.
type outcome struct {
	Failure  string // kind and code
	Timer    string // and phase
	Words    string
	Hook     string // what it saw
	End      string
	Requests int
	After    time.Duration // until the run had settled
}

// play plays a scenario to its end. A suggestion is answered with "stop", and a parked run is resumed
// when it is due.
func play(t *testing.T, e entry, sc scenario) (o outcome) {
	t.Helper()
	drive(t, e, func() scenario { return sc }, func(p *playedRun) {
		result, err := p.run.Wait(context.Background())
		o.After = p.since()
		time.Sleep(time.Hour) // in case something makes further requests
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

// settled is how the run ended, or will end once its suggestion is answered.
func (p *playedRun) settled(err error) string {
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

// resumed resumes a parked run when it is due.
func (p *playedRun) resumed(due time.Time) string {
	time.Sleep(time.Until(due))
	run, err := p.runner.Resume(p.t.Context(), p.run.ID())
	if err != nil {
		p.t.Error(err)
		return "parked"
	}
	_, err = run.Wait(context.Background())
	return fmt.Sprintf("parked; resumed after %s: %s", words.Duration(p.since()), p.settled(err))
}

// hookSaw is what the hook was told at each failure.
func (p *playedRun) hookSaw() string {
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
		said += " after " + words.Duration(f.Elapsed.Duration())
		if f.LastStep != "" {
			said += "; last: " + f.LastStep + ", " + words.Duration(f.LastStepElapsed.Duration())
		}
		return said
	})
	var silences []string
	for _, e := range p.saw {
		silences = append(silences, fmt.Sprint(e.IdleExpiries))
	}
	return what + "; silences: " + strings.Join(silences, ", ")
}

// distinct are the different descriptions of a list's elements, in order.
func distinct[T any](list []T, describe func(T) string) string {
	var all []string
	for _, item := range list {
		if d := describe(item); len(all) == 0 || all[len(all)-1] != d {
			all = append(all, d)
		}
	}
	return strings.Join(all, " / ")
}
