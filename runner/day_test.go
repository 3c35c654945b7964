package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// clockFrom is a wall clock that shows that time now.
func clockFrom(wall time.Time) func() time.Time {
	began := time.Now()
	return func() time.Time { return wall.Add(time.Since(began)) }
}

// evening is an hour before midnight, here.
func evening() time.Time { return time.Date(2026, 3, 3, 23, 0, 0, 0, time.Local) }

// costly fails once it has used so many tokens.
func costly(tokens int64, err error) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		hear(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{OutputTokens: tokens}})
		return err
	}
}

func TestADaysBudgetIsThatOfAllItsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known, log, model := health.New(), timeline.NewMemory(), script(answers("one"), answers("two"), answers("three"))
		now := clockFrom(evening())
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithHealth(known), runner.WithClock(now),
			runner.WithDayBudget(recovery.Budget{Tokens: 20}), runner.WithHook("h", advise(retryNow)))
		for _, want := range []string{"one", "two"} { // 15 tokens each: the second begins when 5 are left
			if text, err := r.Run(t.Context(), "hi"); err != nil || text != want {
				t.Fatalf("got %q, %v", text, err)
			}
		}
		_, err := r.Run(t.Context(), "hi")
		failed := wantError(t, err, failure.KindBudget)
		midnight := evening().Add(time.Hour)
		f := failed.Failure
		if f.Variant != failure.VariantDayTokens || !f.ResetsAt.Equal(midnight) || !strings.Contains(f.Message, "have used 30 of 20 tokens") {
			t.Errorf("failed with %+v", f)
		}
		if n := len(model.calls()); n != 2 {
			t.Errorf("%d requests", n)
		}

		// A person has it go on tomorrow.
		run, err := r.Recover(t.Context(), failed.Run, runner.Answer{Action: recovery.ButtonResumeAt})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		if w := result.State.Wait; !errors.Is(err, runner.ErrParked) || w.For != recovery.WaitReset || !w.Until.Equal(midnight) {
			t.Fatalf("%+v, %v", w, err)
		}
		time.Sleep(time.Hour)
		if run, err = r.Resume(t.Context(), failed.Run); err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "three" {
			t.Errorf("got %+v, %v", result, err)
		}
		if before, after := known.Spent(evening()).Tokens, known.Spent(now()).Tokens; before != 30 || after != 15 {
			t.Errorf("spent %d, and %d tomorrow", before, after)
		}
	})
}

func TestAPersonMayGoOverTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known, now := health.New(), clockFrom(evening())
		known.Spend(now(), recovery.Budget{Tokens: 20})
		model := script(callsTool("c1", "look", `{}`), answers("ok"))
		r := runner.New(runner.WithModel(primary, model), runner.WithHealth(known), runner.WithClock(now), runner.WithAutoRecover(true),
			runner.WithTools(runner.Tool{Name: "look", Run: func(context.Context, runner.ToolCall) (string, error) { return "seen", nil }}),
			runner.WithDayBudget(recovery.Budget{Tokens: 20}), runner.WithHook("h", advise(retryNow)))
		_, err := r.Run(t.Context(), "hi")
		failed := wantError(t, err, failure.KindBudget)
		if failed.Suggestion == nil || len(model.calls()) != 0 {
			t.Fatalf("suggested %+v after %d requests", failed.Suggestion, len(model.calls()))
		}
		run, err := r.Recover(t.Context(), failed.Run, runner.Answer{Action: recovery.ButtonExtend})
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		if err != nil || result.Text != "ok" {
			t.Fatalf("got %+v, %v", result, err)
		}
		if spent := known.Spent(now()).Tokens; spent <= 20 || spent != 20+result.State.Spent.Tokens {
			t.Errorf("spent %d: what is over the day counts, too", spent)
		}
	})
}

// TestACallPaysTheDayOnWhichItBegan: it reserves 100, goes on after midnight and uses 15.
func TestACallPaysTheDayOnWhichItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known, now := health.New(), clockFrom(evening().Add(59*time.Minute+50*time.Second))
		slow := func(ctx context.Context, hear func(llm.Delta) bool) error {
			time.Sleep(20 * time.Second)
			return answers("ok")(ctx, hear)
		}
		r := runner.New(runner.WithModel(primary, script(slow)), runner.WithHealth(known), runner.WithClock(now),
			runner.WithDayBudget(recovery.Budget{Tokens: 200}), runner.WithPolicy(func(p *recovery.Policy) { p.MaxOutputTokens = 100 }))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Second)
		if spent := known.Spent(evening()).Tokens; spent != 100 {
			t.Errorf("%d are reserved", spent)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if before, after := known.Spent(evening()).Tokens, known.Spent(now()).Tokens; before != 15 || after != 0 {
			t.Errorf("spent %d, and %d after midnight", before, after)
		}
	})
}

// TestALostCallStaysCounted: its process let go of it, and nobody knows what it used.
func TestALostCallStaysCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known, log, now := health.New(), timeline.NewMemory(), clockFrom(evening())
		process := func() *runner.Runner {
			return runner.New(runner.WithModel(primary, script(stalls("It is"), answers("ok"))), runner.WithLog(log), runner.WithHealth(known),
				runner.WithClock(now), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)),
				runner.WithDayBudget(recovery.Budget{Tokens: 1000}), runner.WithPolicy(func(p *recovery.Policy) { p.MaxOutputTokens = 100 }))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		run, err := process().Start(ctx, runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		cancel(runner.ErrLetGo)
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrLetGo) {
			t.Fatal(err)
		}
		again := runner.New(runner.WithModel(primary, script(answers("ok"))), runner.WithLog(log), runner.WithHealth(known), runner.WithClock(now),
			runner.WithHook("h", advise(retryNow)))
		if run, err = again.Resume(t.Context(), run.ID()); err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "ok" {
			t.Fatalf("got %+v, %v", result, err)
		}
		if spent := known.Spent(now()).Tokens; spent != 116 {
			t.Errorf("spent %d: 100 may have been used besides the word that was heard, and 15 were", spent)
		}
	})
}

func TestASummaryIsCountedBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(fails("", tooLong), answers("They talked."), answers("fits"))
		// The first call has 5,000 tokens of input, and the summary some 3,500 and 2,000 of output.
		r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(shorten)),
			runner.WithDayBudget(recovery.Budget{Tokens: 10_000}))
		run, err := r.Start(t.Context(), runner.Request{Messages: conversation(20, 1000)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = run.Wait(t.Context())
		if failed := wantError(t, err, failure.KindBudget); failed.Failure.Variant != failure.VariantDayTokens || len(model.calls()) != 1 {
			t.Errorf("%+v after %d requests", failed.Failure, len(model.calls()))
		}
	})
}

// TestI11HostilePluginsSpendTheBudgetAndOneCall: whatever is voted, and however much a call
// turns out to use, no more than one call is over the budget; the day's binds many runs.
func TestI11HostilePluginsSpendTheBudgetAndOneCall(t *testing.T) {
	const call, budget, day = 1000, 2500, 7500
	broken := failure.NewFailure(failure.KindUnavailable, failure.OriginModel, failure.PhaseMidStream, nil)
	other := recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: secondary}
	for name, vote := range map[string]func(hooks.RunError) recovery.Vote{
		"retries": func(hooks.RunError) recovery.Vote { return retryNow },
		"switches": func(e hooks.RunError) recovery.Vote {
			if e.Model == secondary {
				return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: primary}
			}
			return other
		},
		"wants more": func(hooks.RunError) recovery.Vote {
			return recovery.Vote{Action: recovery.ActionRetry, Adjust: recovery.Adjust{MaxOutputTokens: 1 << 40}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				known, now := health.New(), clockFrom(evening())
				hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) { return vote(e), nil })
				broke := 0
				for range 5 {
					one, two := script(costly(call, broken)), script(costly(call, broken))
					r := runner.New(runner.WithModel(primary, one), runner.WithModel(secondary, two), runner.WithHealth(known), runner.WithClock(now),
						runner.WithAutoRecover(true), runner.WithHook("h", hook), runner.WithDayBudget(recovery.Budget{Tokens: day}),
						runner.WithPolicy(func(p *recovery.Policy) { p.MaxRetries, p.Budget.Tokens = 5, budget }))
					run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
					if err != nil {
						t.Fatal(err)
					}
					result, err := run.Wait(t.Context())
					if result.State == nil || result.State.Suggestion == nil {
						t.Fatalf("got %+v, %v", result.State, err)
					}
					if n := int64(len(one.calls()) + len(two.calls())); n*call > budget+call || result.State.Spent.Tokens != n*call {
						t.Errorf("%d requests; the run counts %d tokens", n, result.State.Spent.Tokens)
					}
					if result.State.Suggestion.BlockedBy == "budget" {
						broke++
					}
				}
				if spent := known.Spent(now()).Tokens; spent > day+call || broke == 0 {
					t.Errorf("spent %d of %d; %d runs of 5 were stopped by a budget", spent, day, broke)
				}
			})
		})
	}
}

func TestABudgetOfMoneyNeedsPrices(t *testing.T) {
	model := script(answers("ok"))
	for name, option := range map[string]runner.Option{
		"a run's": runner.WithPolicy(func(p *recovery.Policy) { p.Budget.Microdollars = 1 }),
		"a day's": runner.WithDayBudget(recovery.Budget{Microdollars: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runner.New(runner.WithModel(primary, model), option).Run(t.Context(), "hi")
			if err == nil || !strings.Contains(err.Error(), "no price of a/one") {
				t.Errorf("got %v", err)
			}
			free := runner.WithPolicy(func(p *recovery.Policy) { p.Prices = map[string]recovery.Price{primary: {}} })
			if _, err := runner.New(runner.WithModel(primary, model), option, free).Run(t.Context(), "hi"); err != nil {
				t.Errorf("a price of nothing: %v", err)
			}
		})
	}
}

func TestARequestDoesNotLiftTheDay(t *testing.T) {
	known := health.New()
	known.Spend(time.Now(), recovery.Budget{Tokens: 20})
	r := runner.New(runner.WithModel(primary, script(answers("ok"))), runner.WithHealth(known), runner.WithDayBudget(recovery.Budget{Tokens: 20}))
	own := recovery.DefaultPolicy()
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Policy: &own})
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(t.Context())
	wantError(t, err, failure.KindBudget)
}
