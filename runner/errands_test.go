package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// slowHealth waits for somebody else before it learns of a failure.
type slowHealth struct {
	*health.Health
	wait time.Duration
}

func (h slowHealth) Failed(model string, f failure.Failure, at time.Time) {
	time.Sleep(h.wait)
	h.Health.Failed(model, f, at)
}

// TestHealthThatWaitsLosesNoRun: while another process holds the health file, a run keeps its
// lease, and nobody claims it.
func TestHealthThatWaitsLosesNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := timeline.NewMemory()
		overload := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("hello"))), runner.WithLog(renamed{log, "one"}),
			runner.WithHealth(slowHealth{health.New(), time.Minute}), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			time.Sleep(10 * time.Second)
			if _, err := log.Claim(t.Context(), run.ID(), "two", time.Minute); !errors.Is(err, timeline.ErrOwned) {
				t.Fatalf("another owner claims the run: %v", err)
			}
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "hello" {
			t.Errorf("got %+v, %v", result, err)
		}
	})
}

// stuckHealth is a health whose file another process holds until free is closed.
type stuckHealth struct {
	*health.Health
	on   string // what waits for the file
	free chan struct{}
}

func (h stuckHealth) waits(what string) {
	if what == h.on {
		<-h.free
	}
}

func (h stuckHealth) Failed(model string, f failure.Failure, at time.Time) {
	h.waits("failed")
	h.Health.Failed(model, f, at)
}

func (h stuckHealth) Succeeded(model string) {
	h.waits("succeeded")
	h.Health.Succeeded(model)
}

func (h stuckHealth) Reserve(at time.Time, reserve, limit recovery.Budget) (recovery.Budget, string) {
	h.waits("reserve")
	return h.Health.Reserve(at, reserve, limit)
}

func (h stuckHealth) Spend(at time.Time, used recovery.Budget) {
	h.waits("spend")
	h.Health.Spend(at, used)
}

// stuck starts a run whose health waits for its file, and returns it once it does.
func stuck(t *testing.T, on string, model *scripted, more ...runner.Option) (h stuckHealth, run *runner.Run, cancel func() error) {
	t.Helper()
	h = stuckHealth{health.New(), on, make(chan struct{})}
	look := runner.Tool{Name: "look", Run: func(context.Context, runner.ToolCall) (string, error) { return "seen", nil }}
	r := runner.New(append([]runner.Option{
		runner.WithModel(primary, model), runner.WithHealth(h), runner.WithTools(look), runner.WithAutoRecover(true),
		runner.WithDayBudget(recovery.Budget{Tokens: 1000}), runner.WithPolicy(func(p *recovery.Policy) { p.MaxOutputTokens = 100 }),
		runner.WithHook("h", advise(retryNow)),
	}, more...)...)
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return h, run, func() error { return r.Cancel(t.Context(), run.ID()) }
}

// TestARunIsCancelledWhileHealthWaits: within 2 s, whatever is told or asked of it, and the day
// pays for no call that did not begin.
func TestARunIsCancelledWhileHealthWaits(t *testing.T) {
	overload := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	for _, on := range []string{"failed", "reserve"} {
		t.Run(on, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, run, cancel := stuck(t, on, script(fails("so far", overload), answers("hello")))
				began := time.Now()
				if err := cancel(); err != nil {
					t.Fatal(err)
				}
				result, err := run.Wait(t.Context())
				if took := time.Since(began); !errors.Is(err, runner.ErrCancelled) || took > 2*time.Second {
					t.Errorf("%s after %v: %v", result.State.Status, took, err)
				}
				if text := result.State.Answer(); on == "failed" && text != "so far" {
					t.Errorf("what was said is %q", text)
				}
				close(h.free)
				synctest.Wait()
				if spent := h.Spent(time.Now()); spent.Tokens > result.State.Spent.Tokens {
					t.Errorf("the day has spent %+v, the run %+v", spent, result.State.Spent)
				}
			})
		})
	}
}

// TestTimersGoOnWhileHealthWaits: a turn whose time is over ends.
func TestTimersGoOnWhileHealthWaits(t *testing.T) {
	overload := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	for _, on := range []string{"failed", "reserve"} {
		t.Run(on, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				h, run, _ := stuck(t, on, script(fails("", overload)), runner.WithTimeouts(recovery.Settings{failure.TimerMaxTurn: 10_000}))
				defer close(h.free)
				_, err := run.Wait(t.Context())
				wantError(t, err, failure.KindMaxTurnTime)
				if took := time.Since(began); took > 12*time.Second {
					t.Errorf("after %v", took)
				}
			})
		})
	}
}

// TestToolsRunWhileHealthWaits: nothing follows from what it is told of an answer.
func TestToolsRunWhileHealthWaits(t *testing.T) {
	for _, on := range []string{"succeeded", "spend"} {
		t.Run(on, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := false
				h, run, _ := stuck(t, on, script(callsTool("c1", "note", `{}`), answers("hello")), runner.WithTools(
					runner.Tool{Name: "note", Run: func(context.Context, runner.ToolCall) (string, error) { ran = true; return "noted", nil }}))
				if !ran {
					t.Error("the tool waits, too")
				}
				close(h.free)
				result, err := run.Wait(t.Context())
				if err != nil || result.Text != "hello" {
					t.Errorf("got %+v, %v", result, err)
				}
				if day, run := h.Spent(time.Now()).Tokens, result.State.Spent.Tokens; day != run {
					t.Errorf("the day has spent %d, the run %d", day, run)
				}
			})
		})
	}
}
