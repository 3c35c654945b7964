package runner_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// occasional is a hook of any occasion, which remembers what it was asked about.
type occasional struct {
	mu    sync.Mutex
	asked []hooks.Occasion
	say   func(hooks.Occasion) (recovery.Vote, error)
}

func (o *occasional) Advise(_ context.Context, about hooks.Occasion) (recovery.Vote, error) {
	o.mu.Lock()
	o.asked = append(o.asked, about)
	o.mu.Unlock()
	return o.say(about)
}

func (o *occasional) about() []hooks.Occasion {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

// TestBeforeCall: a hook that takes before_call is asked about every call, and about nothing else.
func TestBeforeCall(t *testing.T) {
	one, two := script(answers("from one")), script(answers("from two"))
	gate := &occasional{say: func(about hooks.Occasion) (recovery.Vote, error) {
		if e, ok := about.(hooks.BeforeCall); ok && e.Model.Model == "a/one" && len(e.Alternatives) == 1 {
			return recovery.Vote{Action: recovery.ActionRoute, NewModel: e.Alternatives[0].Model, Reason: "after hours"}, nil
		}
		return recovery.Vote{Action: recovery.ActionAllow}, nil
	}}
	r := runner.New(runner.WithModel("a/one", one), runner.WithModel("b/two", two), runner.WithHook("gate", gate, recovery.HookBeforeCall))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "a secret", Plugins: []string{}, Labels: recovery.Labels{"team": "blue"}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(t.Context())
	if err != nil || result.Text != "from two" || len(one.calls()) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
	about := gate.about()
	if len(about) != 2 {
		t.Fatalf("it was asked about %v", about)
	}
	e, _ := about[0].(hooks.BeforeCall)
	if e.Run != run.ID() || e.Labels["team"] != "blue" || e.Round != 1 || e.InputTokens == 0 || e.Time.IsZero() {
		t.Errorf("%+v", e)
	}
}

// TestBeforeCallFailsOpen: a hook that breaks, or is silent, costs its time and nothing else.
func TestBeforeCallFailsOpen(t *testing.T) {
	for name, c := range map[string]struct {
		closed bool
		say    func(hooks.Occasion) (recovery.Vote, error)
		took   time.Duration
		want   string
	}{
		"breaks": {say: func(hooks.Occasion) (recovery.Vote, error) { return recovery.Vote{}, errors.New("boom") }, want: "from one"},
		"hangs": {took: hooks.CallDeadline, want: "from one", say: func(hooks.Occasion) (recovery.Vote, error) {
			time.Sleep(time.Hour)
			return recovery.Vote{Action: recovery.ActionRefuse}, nil
		}},
		"names what it may not": {want: "from one", say: func(hooks.Occasion) (recovery.Vote, error) {
			return recovery.Vote{Action: recovery.ActionRoute, NewModel: "c/three"}, nil
		}},
		"breaks, closed": {closed: true, say: func(hooks.Occasion) (recovery.Vote, error) { return recovery.Vote{}, errors.New("boom") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := hooks.Named{Name: "gate", Hook: &occasional{say: c.say}, Occasions: []string{recovery.HookBeforeCall}, FailClosed: c.closed}
				r := runner.New(runner.WithModel("a/one", script(answers("from one"))), runner.WithHooks(func() []hooks.Named { return []hooks.Named{gate} }))
				began := time.Now()
				text, err := r.Run(t.Context(), "hi")
				if text != c.want || (err != nil) != (c.want == "") || time.Since(began) != c.took {
					t.Errorf("%q, %v after %v", text, err, time.Since(began))
				}
				if f, ok := failure.AsFailure(err); c.closed && (!ok || !strings.Contains(f.Message, "a/one is not allowed (gate: ") || !strings.Contains(f.Message, "boom")) {
					t.Errorf("%v", err)
				}
				time.Sleep(2 * time.Hour) // what hangs ends
			})
		})
	}
}

// TestACallIsHeld: nothing is asked of the model until then, and the hook is asked again.
func TestACallIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(40 * time.Second)
		gate := &occasional{say: func(about hooks.Occasion) (recovery.Vote, error) {
			if e, ok := about.(hooks.BeforeCall); ok && e.Time.Before(until) {
				return recovery.Vote{Action: recovery.ActionHold, Until: until, Reason: "the minute's budget is used up"}, nil
			}
			return recovery.Vote{}, nil
		}}
		model := script(answers("done"))
		r := runner.New(runner.WithModel("a/one", model), runner.WithHook("gate", gate, recovery.HookBeforeCall))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		state, err := r.Inspect(t.Context(), run.ID())
		if err != nil || len(model.calls()) > 0 {
			t.Fatalf("%v; %d calls", err, len(model.calls()))
		}
		if at := state.Situation().Stages[0]; !strings.Contains(at.Line, "gate holds the call: the minute's budget is used up. Going on in {countdown}") || state.Status != recovery.StatusWaiting {
			t.Errorf("%s: %q", state.Status, at.Line)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "done" || time.Now().Before(until) || len(gate.about()) != 2 {
			t.Errorf("%+v, %v; asked %d times", result, err, len(gate.about()))
		}
	})
}

// TestRunEnded: what it took is told once the run has ended, and nobody waits for it.
func TestRunEnded(t *testing.T) {
	overloaded := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	for name, c := range map[string]struct {
		one       *scripted
		status    recovery.Status
		recovered bool
		failed    int
	}{
		"at once":   {one: script(answers("done")), status: recovery.StatusCompleted},
		"recovered": {one: script(fails("", overloaded), answers("done")), status: recovery.StatusCompleted, recovered: true, failed: 1},
		"failed":    {one: script(fails("", failure.NewFailure(failure.KindAuth, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil))), status: recovery.StatusFailed, failed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := &occasional{say: func(hooks.Occasion) (recovery.Vote, error) {
					time.Sleep(time.Second)
					return recovery.Vote{Action: recovery.ActionRetry}, nil
				}}
				fail := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
					if e.Failure.Retryable {
						return recovery.Vote{Action: recovery.ActionRetry}, nil
					}
					return recovery.Vote{Action: recovery.ActionFail}, nil
				})
				r := runner.New(runner.WithModel("a/one", c.one), runner.WithAutoRecover(true), runner.WithHook("p", fail), runner.WithHook("listener", listener, recovery.HookRunEnded))
				run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, _ = run.Wait(t.Context())
				if time.Since(began) >= time.Second {
					t.Error("the run waited for who is told")
				}
				if state, err := r.Inspect(t.Context(), run.ID()); err == nil && state.SuggestionOpen() { // it has not ended
					if len(listener.about()) > 0 {
						t.Error("told before the end")
					}
					if err := r.Cancel(t.Context(), run.ID()); err != nil {
						t.Fatal(err)
					}
					c.status = recovery.StatusCancelled
				}
				if err := r.Drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				about := listener.about()
				if len(about) != 1 {
					t.Fatalf("told %d times", len(about))
				}
				e, ok := about[0].(hooks.RunEnded)
				if !ok || e.Run != run.ID() || e.Status != c.status || e.Recovered != c.recovered || e.FailedAttempts != c.failed || len(e.Trouble.Kinds) != c.failed {
					t.Errorf("%+v", about[0])
				}
			})
		})
	}
}
