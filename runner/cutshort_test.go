package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestACallIsCutShort: a person who does not want to wait for a slow model can have it, or another
// one, asked again at once; no plugin is asked, and a second such command comes too late.
func TestACallIsCutShort(t *testing.T) {
	for action, answerer := range map[string]string{recovery.ButtonRetryNow: primary, recovery.ButtonSwitchModel: secondary} {
		synctest.Test(t, func(t *testing.T) {
			log := timeline.NewMemory()
			r := runner.New(runner.WithLog(log), runner.WithModel(primary, script(stalls("It is"), answers("ok"))), runner.WithModel(secondary, script(answers("ok"))),
				runner.WithHook("h", hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
					t.Error("a plugin is asked")
					return recovery.Vote{}, nil
				})))
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
			state, err := r.Inspect(t.Context(), run.ID())
			if err != nil {
				t.Fatal(err)
			}
			call, buttons := state.CutShort()
			if len(buttons) != 2 || buttons[1].Model != secondary {
				t.Fatalf("what can be done: %q, %+v", call, buttons)
			}
			if _, err := r.Recover(t.Context(), run.ID(), runner.Answer{Suggestion: call, Action: action}); err != nil {
				t.Fatal(err)
			}
			result, err := run.Wait(t.Context())
			if err != nil || result.Text != "ok" || result.Model != answerer {
				t.Fatalf("%+v, %v", result, err)
			}
			events, err := log.Read(t.Context(), run.ID(), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			failures := bodies[recovery.Failed](events)
			if len(failures) != 1 || failures[0].Failure.Line() != "a was slow. You did not wait any longer for its answer." || failures[0].Failure.Elapsed != 20_000 {
				t.Errorf("failures: %+v", failures)
			}
			if began := bodies[recovery.Began](events); len(began) != 2 || began[1].Withdraws != began[0].Attempt {
				t.Errorf("attempts: %+v", began)
			}
			if last := events[len(events)-1]; last.Time.Sub(events[0].Time) > 22*time.Second {
				t.Errorf("it took until %s", last.Time)
			}
			if _, err := r.Recover(t.Context(), run.ID(), runner.Answer{Suggestion: call, Action: action}); !errors.Is(err, recovery.ErrAnswered) {
				t.Errorf("once more: %v", err)
			}
		})
	}
}

// TestACallOfALostOwnerIsCutShort: the answer counts, whoever claims the run for it.
func TestACallOfALostOwnerIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := renamed{timeline.NewMemory(), "owner"}
		build := func(s *scripted) *runner.Runner {
			return runner.New(runner.WithLog(log), runner.WithModel(primary, s), runner.WithModel(secondary, script(answers("ok"))))
		}
		run, err := build(script(stalls("It is"))).Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		again := build(script(answers("no"))) // the same owner's next process
		state, err := again.Inspect(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		call, _ := state.CutShort()
		next, err := again.Recover(t.Context(), run.ID(), runner.Answer{Suggestion: call, Action: recovery.ButtonSwitchModel})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := next.Wait(t.Context()); err != nil || result.Text != "ok" || result.Model != secondary {
			t.Errorf("%+v, %v", result, err)
		}
		run.Cancel()
	})
}
