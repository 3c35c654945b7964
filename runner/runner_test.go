package runner_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

func advise(v recovery.Vote) hooks.Hook {
	return hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) { return v, nil })
}

var (
	retryNow  = recovery.Vote{Action: recovery.ActionRetry}
	overload  = failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	primary   = "a/one"
	secondary = "b/two"
)

func TestCompletes(t *testing.T) {
	r := runner.New(runner.WithModel(primary, script(answers("hello"))))
	text, err := r.Run(t.Context(), "hi")
	if err != nil || text != "hello" {
		t.Fatalf("got %q, %v", text, err)
	}
}

func TestWithoutPluginNothingIsRepeatedAndAPersonIsAsked(t *testing.T) {
	model := script(fails("par", overload), answers("whole"))
	r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true))
	_, err := r.Run(t.Context(), "hi")
	failed := wantError(t, err, failure.KindOverloaded)
	if s := failed.Suggestion; s == nil || s.DecidedBy != nil || s.SuggestedAction != recovery.ActionRetry || s.Actions[0].Kind != recovery.ButtonRetry {
		t.Fatalf("suggestion %+v", s)
	}
	if n := len(model.calls()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	run, err := r.Recover(t.Context(), failed.Run, runner.Answer{Action: "a1"})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(t.Context()); err != nil || result.Text != "whole" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestTheErrorUnwrapsToTheOriginal(t *testing.T) {
	original := errors.New("the embedder's own")
	_, err := runner.New(runner.WithModel(primary, script(fails("", original)))).Run(t.Context(), "hi")
	wantError(t, err, failure.KindUnknown)
	if !errors.Is(err, original) {
		t.Errorf("%v does not unwrap to the original", err)
	}
}

// TestRowsOfSomebodysOwn holds for what an embedder's model returns as it does for the models of a provider.Set.
func TestRowsOfSomebodysOwn(t *testing.T) {
	rows, err := failure.NewLocal([]failure.LocalRow{{Kind: failure.KindBilling, Provider: "a", Text: "no more blips"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		err  error
		want failure.Kind
	}{
		{"a plain error", errors.New("no more blips for you"), failure.KindBilling},
		{"one that no row knows", errors.New("no more blops for you"), failure.KindUnknown},
		{"a failure is what it says", failure.NewFailure(failure.KindOverloaded, failure.OriginModel, "", errors.New("no more blips for you")), failure.KindOverloaded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := runner.New(runner.WithModel(primary, script(fails("", tt.err))), runner.WithClassifier(rows.Classify)).Run(t.Context(), "hi")
			wantError(t, err, tt.want)
		})
	}
}

func TestRetriesAndSendsTheSameInput(t *testing.T) {
	model := script(fails("par", nil), fails("", overload), answers("whole"))
	r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
	text, err := r.Run(t.Context(), "hi")
	if err != nil || text != "whole" {
		t.Fatalf("got %q, %v", text, err)
	}
	calls := model.calls()
	if len(calls) != 3 {
		t.Fatalf("%d requests, want 3", len(calls))
	}
	for _, c := range calls {
		if len(c.Messages) != 1 || c.Messages[0].Text() != "hi" {
			t.Errorf("a retry sent %+v", c.Messages)
		}
	}
}

func TestSuggestsAndRecovers(t *testing.T) {
	model, other := script(fails("", overload)), script(answers("from two"))
	r := runner.New(runner.WithModel(primary, model), runner.WithModel(secondary, other),
		runner.WithHook("h", advise(recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: secondary})))
	_, err := r.Run(t.Context(), "hi")
	failed := wantError(t, err, failure.KindOverloaded)
	s := failed.Suggestion
	if s == nil || s.SuggestedAction != recovery.ActionSwitchModel || s.NewModel != secondary {
		t.Fatalf("suggestion %+v", s)
	}
	if n := len(model.calls()) + len(other.calls()); n != 1 {
		t.Fatalf("%d requests before anybody answered", n)
	}
	run, err := r.Recover(t.Context(), failed.Run, runner.Answer{Action: "switch_model"})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(t.Context()); err != nil || result.Text != "from two" {
		t.Fatalf("got %+v, %v", result, err)
	}
	if _, err := r.Recover(t.Context(), failed.Run, runner.Answer{Suggestion: s.ID, Action: "retry"}); err == nil {
		t.Error("a suggestion was answered twice")
	}
}

func TestASuggestionIsAnsweredAsSoonAsItIsSeen(t *testing.T) {
	r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithHook("h", advise(retryNow)))
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
		if result, err := again.Wait(t.Context()); err != nil || result.Text != "ok" {
			t.Fatalf("got %+v, %v", result, err)
		}
		return
	}
	t.Error("nothing was suggested")
}

func TestToolsRunOnceAcrossRetries(t *testing.T) {
	var ran atomic.Int32
	tool := runner.Tool{Name: "weather", Run: func(context.Context, runner.ToolCall) (string, error) {
		ran.Add(1)
		return "clear", nil
	}}
	model := script(callsTool("c1", "weather", `{"city":"Oslo"}`), fails("It is", nil), answers("It is clear"))
	r := runner.New(runner.WithModel(primary, model), runner.WithTools(tool), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
	text, err := r.Run(t.Context(), "weather?")
	if err != nil || text != "It is clear" {
		t.Fatalf("got %q, %v", text, err)
	}
	if ran.Load() != 1 {
		t.Errorf("the tool ran %d times", ran.Load())
	}
}

func TestWhatIsOursReachesTheHookAndSettles(t *testing.T) {
	unbuildable := failure.NewFailure(failure.KindPromptFailure, failure.OriginPrompt, failure.PhasePrompt, nil)
	for name, c := range map[string]struct {
		kind    failure.Kind
		options []runner.Option
	}{
		"prompt": {failure.KindPromptFailure, []runner.Option{runner.WithModel(primary, script(fails("", unbuildable)))}},
		"model":  {failure.KindInternal, []runner.Option{runner.WithModel(primary, script(panics))}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
				if e.Failure.Kind == c.kind {
					asked.Add(1)
				}
				return recovery.Vote{}, nil
			})
			_, err := runner.New(append(c.options, runner.WithHook("h", hook))...).Run(t.Context(), "hi")
			wantError(t, err, c.kind)
			if asked.Load() != 1 {
				t.Errorf("the hook was asked %d times", asked.Load())
			}
		})
	}
}

func TestHangsSettle(t *testing.T) {
	for _, c := range []struct {
		name  string
		model llm.Model
		timer failure.Timer
	}{
		{"before the first event", script(stalls("")), failure.TimerFirstEvent},
		{"mid-stream", script(stalls("It is")), failure.TimerBytes},
		{"pings for ever", script(pings), failure.TimerIdle},
		{"frames for ever", script(frames), failure.TimerFirstEvent},
		{"deaf", script(deaf), failure.TimerFirstEvent},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := runner.New(runner.WithModel(primary, c.model)).Run(t.Context(), "hi")
				failed := wantError(t, err, failure.KindTimeout)
				if failed.Failure.Timer != c.timer {
					t.Errorf("timer %q, want %q", failed.Failure.Timer, c.timer)
				}
				time.Sleep(2 * time.Hour) // until the deaf model has woken up
			})
		})
	}
}

func pings(ctx context.Context, hear func(llm.Delta) bool) error {
	hear(llm.Delta{Kind: llm.DeltaStart})
	for hear(llm.Delta{Kind: llm.DeltaPing}) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(15 * time.Second):
		}
	}
	return nil
}

// frames are heard that mean nothing: a head, and comments.
func frames(ctx context.Context, hear func(llm.Delta) bool) error {
	for hear(llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Data: []byte(": still here\n\n")}}) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
	return nil
}

// deaf does not listen to its context for a long while.
func deaf(context.Context, func(llm.Delta) bool) error {
	time.Sleep(time.Hour)
	return nil
}

func TestCancelIsNotAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		hook := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
			asked.Add(1)
			return retryNow, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		_, err := runner.New(runner.WithModel(primary, script(stalls("It"))), runner.WithHook("h", hook), runner.WithAutoRecover(true)).Run(ctx, "hi")
		if !errors.Is(err, runner.ErrCancelled) {
			t.Fatalf("got %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("settled after %v", took)
		}
		if asked.Load() != 0 {
			t.Error("the hook was asked about a cancel")
		}
	})
}

func TestCancelEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := advise(recovery.Vote{Action: recovery.ActionRetry, Delay: 50_000})
		r := runner.New(runner.WithModel(primary, script(fails("", overload))), runner.WithHook("h", slow), runner.WithAutoRecover(true))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		run.Cancel()
		if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestCancelByIDEndsARunThatIsDrivenHere(t *testing.T) {
	r := runner.New(runner.WithModel(primary, script(stalls("It"))))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := r.Resume(t.Context(), run.ID()); err != nil || same != run {
		t.Errorf("resuming a driven run gave %p, %v, want %p", same, err, run)
	}
	if err := r.Cancel(t.Context(), run.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); !errors.Is(err, runner.ErrCancelled) {
		t.Errorf("the run ended with %v", err)
	}
}

func TestALiveWaitIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := advise(recovery.Vote{Action: recovery.ActionRetry, Delay: 50_000})
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithHook("h", slow), runner.WithAutoRecover(true))
		began := time.Now()
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		again, err := r.Recover(t.Context(), run.ID(), runner.Answer{Action: "retry_now"})
		if err != nil {
			t.Fatal(err)
		}
		for _, handle := range []*runner.Run{run, again} {
			if result, err := handle.Wait(t.Context()); err != nil || result.Text != "ok" {
				t.Fatalf("got %+v, %v", result, err)
			}
		}
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("the wait was not cut short: %v", took)
		}
	})
}

func TestWaitsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := advise(recovery.Vote{Action: recovery.ActionRetry, Delay: 7_000})
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithHook("h", slow), runner.WithAutoRecover(true))
		began := time.Now()
		if _, err := r.Run(t.Context(), "hi"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 7*time.Second {
			t.Errorf("waited %v", took)
		}
	})
}

func TestAHostilePluginIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(fails("", overload))
		r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)),
			runner.WithPolicy(func(p *recovery.Policy) { p.MaxRetries = 100 }))
		_, err := r.Run(t.Context(), "hi")
		failed := wantError(t, err, failure.KindOverloaded)
		if n := len(model.calls()); n != recovery.MaxAttemptsPerCall+1 { // and the last round
			t.Errorf("%d attempts", n)
		}
		if failed.Suggestion == nil || failed.Suggestion.BlockedBy != "max_attempts" {
			t.Errorf("suggestion %+v", failed.Suggestion)
		}
	})
}

func TestABadPluginChangesNothing(t *testing.T) {
	for name, hook := range map[string]hooks.Func{
		"errors": func(context.Context, hooks.RunError) (recovery.Vote, error) { return recovery.Vote{}, errors.New("no") },
		"panics": func(context.Context, hooks.RunError) (recovery.Vote, error) { panic("no") },
		"hangs": func(ctx context.Context, _ hooks.RunError) (recovery.Vote, error) {
			<-ctx.Done()
			return recovery.Vote{}, ctx.Err()
		},
		"lies": func(context.Context, hooks.RunError) (recovery.Vote, error) {
			return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "evil/one"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := script(fails("", overload))
				_, err := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("bad", hook)).Run(t.Context(), "hi")
				failed := wantError(t, err, failure.KindOverloaded)
				if s := failed.Suggestion; s == nil || s.DecidedBy != nil || s.Actions[0].Kind != recovery.ButtonRetry || len(model.calls()) != 1 {
					t.Errorf("suggestion %+v after %d requests", failed.Suggestion, len(model.calls()))
				}
			})
		})
	}
}

func TestJudgesAnswers(t *testing.T) {
	says := func(deltas ...llm.Delta) *scripted {
		return script(func(_ context.Context, hear func(llm.Delta) bool) error {
			for _, d := range deltas {
				hear(d)
			}
			return nil
		})
	}
	text := llm.Delta{Kind: llm.DeltaText, Text: "x"}
	call := llm.Delta{Kind: llm.DeltaCall, CallID: "c", Name: "weather"}
	stop := func(why llm.StopReason) llm.Delta { return llm.Delta{Kind: llm.DeltaStop, Stop: why} }
	for name, c := range map[string]struct {
		model *scripted
		want  failure.Kind
	}{
		"nothing":           {says(), failure.KindEmptyResponse},
		"empty":             {says(stop(llm.StopEnd)), failure.KindEmptyResponse},
		"cut":               {says(text), failure.KindStreamInterrupted},
		"filtered":          {says(text, stop(llm.StopFiltered)), failure.KindContentFilter},
		"length, no text":   {says(stop(llm.StopLength)), failure.KindOutputTruncated},
		"length, in a call": {says(call, stop(llm.StopLength)), failure.KindOutputTruncated},
		"bad arguments":     {says(call, llm.Delta{Kind: llm.DeltaArgs, Text: `{"a":`}, stop(llm.StopToolUse)), failure.KindMalformedResponse},
		"array arguments":   {says(call, llm.Delta{Kind: llm.DeltaArgs, Text: `[]`}, stop(llm.StopToolUse)), failure.KindMalformedResponse},
		"a call twice":      {says(call, llm.Delta{Kind: llm.DeltaCall, Index: 1, CallID: "c", Name: "weather"}, stop(llm.StopToolUse)), failure.KindMalformedResponse},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runner.New(runner.WithModel(primary, c.model)).Run(t.Context(), "hi")
			wantError(t, err, c.want)
		})
	}
}

// TestACutAnswerSaysWhatIsKept, whoever noticed that it was cut.
func TestACutAnswerSaysWhatIsKept(t *testing.T) {
	cut := failure.NewFailure(failure.KindStreamInterrupted, failure.OriginModel, failure.PhaseMidStream, nil)
	cut.Describe(failure.Words{})
	for _, err := range []error{nil, cut} {
		_, failed := runner.New(runner.WithModel(primary, script(fails("It is", err)))).Run(t.Context(), "hi")
		const want = "The connection to a broke after 2 words. They are kept until the next attempt."
		if e := wantError(t, failed, failure.KindStreamInterrupted); e.Failure.Message != want {
			t.Errorf("noticed by the adapter: %v: %q", err != nil, e.Failure.Message)
		}
	}
}

func TestTruncatedTextIsAnAnswer(t *testing.T) {
	model := script(func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaText, Text: "long"})
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopLength})
		return nil
	})
	run, err := runner.New(runner.WithModel(primary, model)).Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(t.Context()); err != nil || !result.State.End.Truncated || !result.Truncated {
		t.Errorf("got %+v, %v", result.State.End, err)
	}
	text, err := runner.New(runner.WithModel(primary, model)).Run(t.Context(), "hi")
	if text != "long" || !errors.Is(err, runner.ErrTruncated) {
		t.Errorf("who only reads the text gets %q, %v", text, err)
	}
}

func TestResumeAfterALostOwner(t *testing.T) {
	log := renamed{timeline.NewMemory(), "owner"}
	var ran atomic.Int32
	tool := runner.Tool{Name: "weather", Run: func(context.Context, runner.ToolCall) (string, error) {
		ran.Add(1)
		return "clear", nil
	}}
	lost := script(callsTool("c1", "weather", "{}"), stalls("It is"))
	build := func(m llm.Model) *runner.Runner {
		return runner.New(runner.WithLog(log), runner.WithModel(primary, m), runner.WithTools(tool),
			runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
	}
	run, err := build(lost).Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if item.Delta != nil {
			break
		}
	}
	// The same owner claims the run again: the first loop is stale from now on.
	again, err := build(script(answers("It is clear"))).Resume(t.Context(), run.ID())
	if err != nil {
		t.Fatal(err)
	}
	result, err := again.Wait(t.Context())
	if err != nil || result.Text != "It is clear" {
		t.Fatalf("got %+v, %v", result, err)
	}
	if ran.Load() != 1 {
		t.Errorf("the tool ran %d times", ran.Load())
	}
	run.Cancel()
	if _, err := run.Wait(t.Context()); !errors.Is(err, timeline.ErrStale) {
		t.Errorf("the stale owner ended with %v", err)
	}
}

func TestEventsShowWithdrawnTextOnce(t *testing.T) {
	model := script(fails("It was", nil), answers("It is clear"))
	r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
	shown, withdrawn := map[uint64]string{}, uint64(0)
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if d := event.Delta; d != nil && !d.Thinking && d.Offset == len(shown[d.Attempt]) {
			shown[d.Attempt] += d.Text
		}
		if event.Event == nil {
			continue
		}
		switch b := event.Event.Body.(type) {
		case recovery.Failed:
			shown[b.Attempt] = b.Text
		case recovery.Answered:
			shown[b.Attempt] = b.Message.Text()
		case recovery.Began:
			if b.Withdraws != 0 {
				withdrawn = b.Withdraws
				delete(shown, b.Withdraws)
			}
		}
	}
	if withdrawn != 1 || shown[2] != "It is clear" || len(shown) != 1 {
		t.Errorf("withdrawn %d, shown %v", withdrawn, shown)
	}
}

func wantError(t *testing.T, err error, kind failure.Kind) *runner.Error {
	t.Helper()
	var failed *runner.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v (%T), want a failed run", err, err)
	}
	f, ok := failure.AsFailure(err)
	if !ok || f.Kind != kind {
		t.Fatalf("got %+v, want %s", f, kind)
	}
	return failed
}

func ExampleRunner_Run() {
	model := script(answers("A light jacket is enough."))
	r := runner.New(runner.WithModel("demo/one", model))
	text, err := r.Run(context.Background(), "What should I wear in Oslo?")
	fmt.Println(text, err)
	// Output: A light jacket is enough. <nil>
}
