package recovery_test

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestAWaitForTheStore: a wait that lasts holds the run until it is claimed; one that has ended
// changes its timers and nothing else.
func TestAWaitForTheStore(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run := &recovery.Run{}
	apply := func(b recovery.Body) {
		t.Helper()
		if err := run.Apply(recovery.Event{Run: "r", Seq: run.Seq + 1, Time: at, Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	apply(recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: recovery.DefaultPolicy()})
	apply(recovery.Claimed{Owner: "a", Epoch: 1})
	at = at.Add(10 * time.Minute)
	over := recovery.Paused{Reason: "no space left on device", For: 540_000}
	if line, want := recovery.Line(run, over), "The run waited 9 min for its store: no space left on device. It goes on."; line != want {
		t.Errorf("line %q, want %q", line, want)
	}
	apply(over)
	if run.Status != recovery.StatusRunning || run.Wait != nil || at.Sub(run.LastStepAt) != time.Minute || run.Parked != 0 {
		t.Errorf("after a wait that is over: %s, %+v, idle for %s, parked for %s", run.Status, run.Wait, at.Sub(run.LastStepAt), run.Parked)
	}
	lasting := recovery.Paused{Reason: "no space left on device"}
	if line, want := recovery.Line(run, lasting), "The run waits for its store: no space left on device. It goes on by itself."; line != want {
		t.Errorf("line %q, want %q", line, want)
	}
	apply(lasting)
	if run.Status != recovery.StatusWaiting || len(recovery.Next(run)) > 0 {
		t.Errorf("while it waits: %s, %+v", run.Status, recovery.Next(run))
	}
	apply(recovery.Claimed{Owner: "b", Epoch: 2})
	if run.Status != recovery.StatusRunning || len(recovery.Next(run)) == 0 {
		t.Errorf("once it is claimed: %s, %+v", run.Status, recovery.Next(run))
	}
}
