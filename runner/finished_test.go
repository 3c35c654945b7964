package runner_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestAFinishedAnswerOutlivesATimer has a model whose answer is over, and that waits for
// something more until a clock runs out.
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
