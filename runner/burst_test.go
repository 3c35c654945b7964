package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
)

// TestAFollowerGetsTheWholeBurst: however slowly somebody follows, they get every piece of
// what was said and, last, the event that the run ended by.
func TestAFollowerGetsTheWholeBurst(t *testing.T) {
	const pieces = 200
	burst := func(_ context.Context, hear func(llm.Delta) bool) error {
		for i := range pieces {
			hear(llm.Delta{Kind: llm.DeltaText, Text: fmt.Sprintf("%d ", i)})
		}
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
		return nil
	}
	r := runner.New(runner.WithModel(primary, script(burst)))
	for n := range 20 {
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		var live strings.Builder
		last := ""
		for item, err := range run.Events() {
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case item.Delta != nil:
				live.WriteString(item.Delta.Text)
				time.Sleep(100 * time.Microsecond)
			case item.Event != nil:
				last = item.Event.Type()
			}
		}
		result, err := run.Wait()
		if err != nil || last != "ended" || live.String() != result.Text {
			t.Fatalf("run %d ends with %q after %d of %d bytes, %v", n, last, live.Len(), len(result.Text), err)
		}
	}
}
