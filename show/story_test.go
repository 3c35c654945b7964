package show

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAStoryIsAsWideAsItsTerminal: no line is broken by the terminal itself, and those of a pipe not at all.
func TestAStoryIsAsWideAsItsTerminal(t *testing.T) {
	f := failure.NewFailure(failure.KindStreamInterrupted, failure.OriginModel, failure.PhaseMidStream, nil)
	f.Provider, f.Model, f.RequestID = "lab", "lab/flaky", "req_UKUD5VFPOVT4MY7JZOAQPXQU"
	f.Describe(failure.Words{})
	var events []recovery.Event
	for i, b := range []recovery.Body{
		recovery.Started{Model: "lab/flaky"}, recovery.Claimed{Owner: "me", Epoch: 1}, recovery.Began{Attempt: 1, Round: 1, Model: "lab/flaky"}, recovery.Failed{Attempt: 1, Failure: *f},
	} {
		events = append(events, recovery.Event{Run: "r1", Seq: uint64(i) + 1, Time: time.Unix(1_772_000_000, 0), Body: b})
	}
	const facts = "            MODEL_STREAM_INTERRUPTED · kind stream_interrupted · phase"
	for _, live := range []bool{true, false} {
		var out bytes.Buffer
		s := New(&out, &out)
		s.LiveOut = live
		if err := s.Tell(events); err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(out.String(), facts)
		line, _, _ = strings.Cut(line, "\n            ")
		if broken := line == ""; broken != live {
			t.Errorf("at a terminal %v:\n%s", live, out.String())
		}
	}
}
