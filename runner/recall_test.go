package runner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// imported puts a run of many events into log, which has no snapshot of it.
func imported(t *testing.T, log timeline.Log, id, answer string, notes int, at time.Time) {
	t.Helper()
	bodies := []recovery.Body{
		recovery.Started{Model: primary, Input: []llm.Message{llm.User("hi")}, Policy: recovery.DefaultPolicy()},
		recovery.Claimed{Owner: "elsewhere", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: primary},
	}
	for n := range notes {
		bodies = append(bodies, recovery.Noted{Topic: recovery.TopicToolSays, What: "tool", Detail: fmt.Sprint(n)})
	}
	bodies = append(bodies,
		recovery.Answered{Attempt: 1, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: answer}}}, Stop: llm.StopEnd},
		recovery.Ended{Status: recovery.StatusCompleted})
	events := make([]recovery.Event, len(bodies))
	for i, b := range bodies {
		events[i] = recovery.Event{Run: id, Seq: uint64(i) + 1, Time: at, Body: b}
	}
	if err := log.Import(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
}

// TestALongRunIsFoldedOnce: who looks at a run without a snapshot again reads only what is
// new, and never what another run of that id was.
func TestALongRunIsFoldedOnce(t *testing.T) {
	log := &counting{Journal: timeline.NewMemory()}
	r := runner.New(runner.WithLog(log))
	look := func(want string) (read int) {
		log.n = 0
		run, err := r.Inspect(t.Context(), "r")
		if err != nil || run.Answer() != want || run.Status != recovery.StatusCompleted {
			t.Fatalf("it is %+v, %v", run, err)
		}
		return log.n
	}
	const notes = 10_000
	imported(t, log, "r", "one", notes, time.Unix(1000, 0))
	if n := look("one"); n < notes {
		t.Errorf("%d events of %d", n, notes)
	}
	if n := look("one"); n > 10 {
		t.Errorf("%d events are read for the second look", n)
	}
	if err := log.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	imported(t, log, "r", "two", notes, time.Unix(2000, 0))
	look("two")
}
