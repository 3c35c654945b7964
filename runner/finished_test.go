package runner_test

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestAFinishedAnswerOutlivesATimer: a model whose answer is complete keeps its stream open until a
// timer expires; the answer counts.
func TestAFinishedAnswerOutlivesATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(func(ctx context.Context, hear func(llm.Delta) bool) error {
			hear(llm.Delta{Kind: llm.DeltaText, Text: "whole"})
			<-ctx.Done()
			hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
			return nil
		})
		r := runner.New(runner.WithModel(primary, model), runner.WithPolicy(func(p *recovery.Policy) { p.Timeouts.Idle = failure.InMillis(time.Second) }))
		if text, err := r.Run(t.Context(), "hi"); err != nil || text != "whole" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// cuts answers with a text that is cut at the output limit.
func cuts(text string) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		hear(llm.Delta{Kind: llm.DeltaText, Text: text})
		hear(llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 10, OutputTokens: 8000}})
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopLength})
		return nil
	}
}

// TestACutAnswerIsAskedForOnceMore: with a larger limit, only where nobody set one and where
// things are done by themselves; whatever becomes of the second call, the first answer is kept.
func TestACutAnswerIsAskedForOnceMore(t *testing.T) {
	overloaded := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseMidStream, nil)
	auto := runner.WithAutoRecover(true)
	for name, tt := range map[string]struct {
		second  step
		options []runner.Option
		calls   int
		text    string
		cut     bool
	}{
		"the whole answer":   {answers("The moon is far."), []runner.Option{auto}, 2, "The moon is far.", false},
		"cut once more":      {cuts("The moon is far, and"), []runner.Option{auto}, 2, "The moon is far, and", true},
		"it fails":           {fails("The mo", overloaded), []runner.Option{auto}, 2, "The moon is", true},
		"it breaks off":      {fails("The mo", nil), []runner.Option{auto}, 2, "The moon is", true},
		"it panics":          {panics, []runner.Option{auto}, 2, "The moon is", true},
		"the turn is over":   {stalls("The mo"), []runner.Option{auto, runner.WithPolicy(func(p *recovery.Policy) { p.Timeouts.MaxTurn = 200 })}, 2, "The moon is", true},
		"it keeps silent":    {stalls(""), []runner.Option{auto, runner.WithPolicy(func(p *recovery.Policy) { p.Timeouts.FirstEvent = 100 })}, 2, "The moon is", true},
		"nothing by itself":  {answers("never"), nil, 1, "The moon is", true},
		"a limit of its own": {answers("never"), []runner.Option{auto, runner.WithPolicy(func(p *recovery.Policy) { p.MaxOutputTokens = 8000 })}, 1, "The moon is", true},
		"no budget":          {answers("never"), []runner.Option{auto, runner.WithPolicy(func(p *recovery.Policy) { p.Budget.Tokens = 8100 })}, 1, "The moon is", true},
		"no budget today":    {answers("never"), []runner.Option{auto, runner.WithPolicy(func(p *recovery.Policy) { p.DayBudget.Tokens = 8100 })}, 1, "The moon is", true},
	} {
		t.Run(name, func(t *testing.T) {
			model := script(cuts("The moon is"), tt.second)
			asked := 0
			hook := hooks.Func(func(context.Context, hooks.RunError) (recovery.Vote, error) {
				asked++
				return recovery.Vote{Action: recovery.ActionRetry}, nil
			})
			r := runner.New(append([]runner.Option{runner.WithModel("a/one", model), runner.WithHook("h", hook)}, tt.options...)...)
			run, err := r.Start(t.Context(), runner.Request{Prompt: "How far is it?"})
			if err != nil {
				t.Fatal(err)
			}
			result, err := run.Wait(t.Context())
			if err != nil || result.Text != tt.text || result.Truncated != tt.cut || asked != 0 {
				t.Errorf("%q, truncated %v, %v; the hook was asked %d times", result.Text, result.Truncated, err, asked)
			}
			calls := model.calls()
			if len(calls) != tt.calls {
				t.Fatalf("%d calls", len(calls))
			}
			if tt.calls == 2 && (calls[1].MaxOutputTokens != 32_000 || !reflect.DeepEqual(calls[1].Messages, calls[0].Messages)) {
				t.Errorf("the second call has a limit of %d and is told %+v", calls[1].MaxOutputTokens, calls[1].Messages)
			}
		})
	}
}
