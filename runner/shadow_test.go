package runner_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// after is a hook that answers after a pause.
func after(d time.Duration, v recovery.Vote) hooks.Hook {
	return hooks.Func(func(ctx context.Context, _ hooks.RunError) (recovery.Vote, error) {
		select {
		case <-time.After(d):
			return v, nil
		case <-ctx.Done():
			return recovery.Vote{}, ctx.Err()
		}
	})
}

// shadowed plays a run of which everything but the shadow is given, and gives its
// events and how long it took.
func shadowed(t *testing.T, auto bool, hook, shadow hooks.Hook, steps ...step) ([]recovery.Event, time.Duration) {
	t.Helper()
	log := timeline.NewMemory()
	options := []runner.Option{
		runner.WithLog(log), runner.WithAutoRecover(auto), runner.WithModel(primary, script(steps...)), runner.WithModel(secondary, script(answers("two"))),
	}
	if hook != nil {
		options = append(options, runner.WithHook("h", hook))
	}
	if shadow != nil {
		options = append(options, runner.WithHooks(func() []hooks.Named { return []hooks.Named{{Name: "s", Hook: shadow, Shadow: true}} }))
	}
	began := time.Now()
	run, err := runner.New(options...).Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = run.Wait(t.Context())
	events, err := log.Read(t.Context(), run.ID(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return events, time.Since(began)
}

// course lists the events other than shadow votes, as type and body without numbers and times.
func course(events []recovery.Event) (course []string, votes []recovery.Vote) {
	for _, e := range events {
		if b, ok := e.Body.(recovery.Voted); ok && b.Vote.Shadow {
			votes = append(votes, b.Vote)
			continue
		}
		word := e.Type()
		switch b := e.Body.(type) {
		case recovery.Decided:
			word += " " + string(b.Decision.Action) + " " + b.Decision.NewModel
		case recovery.Began:
			word += " " + b.Model
		case recovery.Ended:
			word += " " + string(b.Status)
		}
		course = append(course, word)
	}
	return course, votes
}

func TestAShadowChangesNothing(t *testing.T) {
	switching := recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: secondary}
	for name, shadow := range map[string]hooks.Hook{
		"quick": advise(switching), "slow": after(100*time.Millisecond, switching), "hangs": after(time.Hour, switching),
		"fails":  hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) { return recovery.Vote{}, errors.New("no") }),
		"panics": hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) { panic("boom") }),
	} {
		for how, hook := range map[string]hooks.Hook{"retries": advise(retryNow), "gives up": advise(recovery.Vote{Action: recovery.ActionFail}), "nobody": nil} {
			for _, auto := range []bool{true, false} {
				t.Run(name+" "+how, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						steps := []step{fails("", overload), fails("", overload), answers("ok")}
						plain, usual := shadowed(t, auto, hook, nil, steps...)
						events, took := shadowed(t, auto, hook, shadow, steps...)
						want, _ := course(plain)
						got, _ := course(events)
						if !reflect.DeepEqual(got, want) {
							t.Errorf("with the shadow:\n%q\nwithout:\n%q", got, want)
						}
						if took-usual > 250*time.Millisecond {
							t.Errorf("it took %v, without the shadow %v", took, usual)
						}
						if _, err := recovery.Fold(events); err != nil {
							t.Error(err)
						}
					})
				})
			}
		}
	}
}

func TestAShadowsVoteIsWritten(t *testing.T) {
	vote := recovery.Vote{Action: recovery.ActionRetry, Reason: "try"}
	for name, tt := range map[string]struct {
		hook  hooks.Hook
		auto  bool
		takes time.Duration
		want  int
		last  string
	}{
		"nobody else is asked": {nil, true, 0, 1, "voted"},
		"the run fails":        {advise(recovery.Vote{Action: recovery.ActionFail}), true, 200 * time.Millisecond, 1, "ended"},
		"it comes too late":    {advise(recovery.Vote{Action: recovery.ActionFail}), true, 300 * time.Millisecond, 0, "ended"},
		"after the suggestion": {advise(retryNow), false, 200 * time.Millisecond, 1, "voted"},
		"during a wait":        {advise(recovery.Vote{Action: recovery.ActionRetry, Delay: 5000}), true, 1900 * time.Millisecond, 1, "ended"},
		"its deadline passes":  {advise(recovery.Vote{Action: recovery.ActionRetry, Delay: 5000}), true, time.Minute, 1, "ended"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events, _ := shadowed(t, tt.auto, tt.hook, after(tt.takes, vote), fails("", overload), answers("ok"))
				_, votes := course(events)
				if len(votes) != tt.want || events[len(events)-1].Type() != tt.last {
					t.Fatalf("%d shadow votes, the last event is %s", len(votes), events[len(events)-1].Type())
				}
				if len(votes) > 0 && (votes[0].Plugin != "s" || (votes[0].Reason != "try" && votes[0].Error == "")) {
					t.Errorf("vote: %+v", votes[0])
				}
			})
		})
	}
}

// TestAShadowIsAskedWhatPluginsAre compares the questions.
func TestAShadowIsAskedWhatPluginsAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked, shadow []hooks.RunError
		record := func(list *[]hooks.RunError) hooks.Hook {
			return hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
				mu.Lock()
				defer mu.Unlock()
				*list = append(*list, e)
				return retryNow, nil
			})
		}
		shadowed(t, true, record(&asked), record(&shadow), fails("par", nil), fails("", overload), answers("ok"))
		inOrder := func(x, y hooks.RunError) int { return x.Attempt - y.Attempt } // nobody waits for shadows
		slices.SortFunc(asked, inOrder)
		slices.SortFunc(shadow, inOrder)
		if len(asked) != 2 || !reflect.DeepEqual(asked, shadow) {
			t.Errorf("plugin\n%+v\nshadow\n%+v", asked, shadow)
		}
	})
}

// TestASuggestionIsAnsweredWhileShadowsAreAwaited lets a person be quicker than a shadow.
func TestASuggestionIsAnsweredWhileShadowsAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithHook("h", advise(retryNow)),
			runner.WithHooks(func() []hooks.Named {
				return []hooks.Named{{Name: "s", Hook: after(100*time.Millisecond, retryNow), Shadow: true}}
			}))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		for event, err := range run.Events() {
			if err != nil {
				t.Fatal(err)
			}
			if event.Event == nil || event.Event.Type() != "suggested" {
				continue
			}
			again, err := r.Recover(t.Context(), run.ID(), runner.Answer{Action: "retry"})
			if err != nil {
				t.Fatal(err)
			}
			result, err := again.Wait(t.Context())
			if err != nil || result.Text != "ok" || slices.Contains(result.State.Policy.Plugins, "s") {
				t.Fatalf("got %+v, %v", result, err)
			}
			return
		}
		t.Error("no suggestion")
	})
}
