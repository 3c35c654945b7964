package runner_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/runner"
)

// TestAFollowerGetsTheWholeBurst: however slowly somebody follows, they get every piece of
// what was said and, last, the event that the run ended by.
func TestAFollowerGetsTheWholeBurst(t *testing.T) {
	const pieces = 200
	var follows atomic.Bool // what happens, and is not catching up any more
	burst := func(_ context.Context, hear func(llm.Delta) bool) error {
		for !follows.Load() {
			hear(llm.Delta{Kind: llm.DeltaText, Text: "."})
			time.Sleep(time.Millisecond)
		}
		for i := range pieces {
			hear(llm.Delta{Kind: llm.DeltaText, Text: fmt.Sprintf("%d ", i)})
		}
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopEnd})
		return nil
	}
	r := runner.New(runner.WithModel(primary, script(burst)))
	for n := range 20 {
		follows.Store(false)
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
				follows.Store(true)
				live.WriteString(item.Delta.Text)
				time.Sleep(100 * time.Microsecond)
			case item.Event != nil:
				last = item.Event.Type()
			}
		}
		result, err := run.Wait(t.Context())
		if said := strings.TrimLeft(result.Text, "."); err != nil || last != "ended" || !strings.HasSuffix(live.String(), said) {
			t.Fatalf("run %d ends with %q after %d of %d bytes, %v", n, last, live.Len(), len(result.Text), err)
		}
	}
}
