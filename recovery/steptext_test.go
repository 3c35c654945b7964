package recovery

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// TestStepCountsText: text that streams re-arms the step's clock where the policy says so,
// and only text that the attempt in the air said.
func TestStepCountsText(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		counts bool
		said   Checkpointed
		want   time.Duration
	}{
		{true, Checkpointed{Attempt: 1, Text: "Hello"}, 50 * time.Second},
		{false, Checkpointed{Attempt: 1, Text: "Hello"}, 30 * time.Second},
		{true, Checkpointed{Attempt: 1}, 30 * time.Second},
		{true, Checkpointed{Attempt: 2, Text: "Hello"}, 30 * time.Second},
	} {
		p := DefaultPolicy()
		p.Timeouts.Step, p.StepCountsText = 30_000, tt.counts
		bodies := []Body{Started{Model: "a/one", Policy: p}, Claimed{Owner: "o", Epoch: 1}, Began{Attempt: 1, Round: 1, Model: "a/one"}, tt.said}
		r := &Run{}
		for i, body := range bodies {
			at := start
			if i == len(bodies)-1 {
				at = start.Add(20 * time.Second)
			}
			r.Apply(Event{Run: "r1", Seq: uint64(i + 1), Time: at, Body: body})
		}
		var got time.Duration
		for _, effect := range Next(r) {
			if effect.Timer != nil && effect.Timer.Write == Body(Due{Timer: failure.TimerStep}) {
				got = effect.Timer.At.Sub(start)
			}
		}
		if got != tt.want {
			t.Errorf("counts %v, %+v: step is due after %s, want %s", tt.counts, tt.said, got, tt.want)
		}
	}
}
