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
	"github.com/mulligan-run/mulligan/timeline"
)

// holdsBack yields text except for its last letter, which might begin a secret, and yields that
// when it is stopped.
func holdsBack(text string) step {
	return func(ctx context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		hear(llm.Delta{Kind: llm.DeltaText, Text: text[:len(text)-1]})
		<-ctx.Done()
		hear(llm.Delta{Kind: llm.DeltaText, Text: text[len(text)-1:]})
		return context.Cause(ctx)
	}
}

// TestLastWords: text that was received is kept whole, however its attempt ends.
func TestLastWords(t *testing.T) {
	for _, name := range []string{"cancelled", "let go", "cut short", "out of time", "silent"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := timeline.NewMemory()
				limits := runner.WithPolicy(func(p *recovery.Policy) {
					switch name {
					case "out of time":
						p.Timeouts.Run = failure.InMillis(time.Minute)
					case "silent":
						p.Timeouts.Idle = failure.InMillis(time.Minute)
					}
				})
				r := runner.New(runner.WithLog(log), limits, runner.WithModel(primary, script(holdsBack("Monday is"), answers("ok"))))
				ctx, letGo := context.WithCancelCause(t.Context())
				defer letGo(nil)
				run, err := r.Start(ctx, runner.Request{Prompt: "hi"})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Second)
				switch name {
				case "cancelled":
					run.Cancel()
				case "let go":
					letGo(runner.ErrLetGo)
				case "cut short":
					cutShort(t, r, run)
				}
				_, _ = run.Wait(t.Context())
				events, err := log.Read(t.Context(), run.ID(), 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				tail, err := log.LoadTail(t.Context(), run.ID())
				if err != nil {
					t.Fatal(err)
				}
				text := tail.Text
				for _, e := range events {
					switch b := e.Body.(type) {
					case recovery.Failed:
						text += b.Text
					case recovery.CancelRequested:
						text += b.Text
					}
				}
				if text != "Monday is" {
					t.Errorf("what is kept: %q", text)
				}
			})
		})
	}
}

func cutShort(t *testing.T, r *runner.Runner, run *runner.Run) {
	t.Helper()
	state, err := r.Inspect(t.Context(), run.ID())
	if err != nil {
		t.Fatal(err)
	}
	call, _ := state.CutShort()
	if _, err := r.Recover(t.Context(), run.ID(), runner.Answer{Suggestion: call, Action: recovery.ButtonRetryNow}); err != nil {
		t.Fatal(err)
	}
}
