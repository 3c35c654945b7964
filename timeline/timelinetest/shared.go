package timelinetest

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Shared tests a timeline.Shared store that two Journals have open: the second follows what the
// first appends, commands come back, and only the newest owner appends (I34). In the end the second
// has the run r, with epoch 2.
func Shared(t *testing.T, one, other timeline.Log) {
	t.Helper()
	ctx := bounded(t)
	old := claim(t, one, "r", "one")
	// The same name does not make it the same owner: it is in another open store.
	_, err := other.Claim(ctx, "r", "one", time.Hour)
	wantError(t, "claim of a living owner's run", err, timeline.ErrOwned)
	const events = 50
	go func() {
		for seq := uint64(1); seq <= events; seq++ {
			if err := one.Append(ctx, old, seq-1, event("r", seq, "")); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	next := uint64(1)
	for item, err := range other.Follow(ctx, "r", 0) {
		if err != nil || item.Event.Seq != next {
			t.Fatalf("want event %d, got %+v, %v", next, item.Event, err)
		}
		if next++; next > events {
			break
		}
	}
	if next != events+1 {
		t.Fatalf("followed to %d", next)
	}
	go func() { _, _ = other.Send(ctx, "r", timeline.Command{ID: "c", Body: recovery.CancelRequested{}}) }()
	heard := false
	for c, err := range one.Commands(ctx, "r", 0) {
		heard = err == nil && c.ID == "c"
		break
	}
	if !heard {
		t.Error("the command was not heard")
	}
	if _, err := one.Renew(ctx, old, time.Nanosecond); err != nil { // as if it had been stopped for a long time
		t.Fatal(err)
	}
	lease := claim(t, other, "r", "two")
	if lease.Epoch != 2 {
		t.Fatalf("claim of an expired run: %+v", lease)
	}
	wantError(t, "the old owner's append", one.Append(ctx, old, events, event("r", events+1, "")), timeline.ErrStale)
	appendAll(t, other, lease, events, event("r", events+1, ""))
	sharedText(t, one, other)
}

// sharedText: who follows a run at a process that lost it gets the text of the new owner, once the old one
// has been told.
func sharedText(t *testing.T, one, other timeline.Log) {
	t.Helper()
	ctx := bounded(t)
	old := began(t, one, "taken")
	one.Publish("taken", timeline.Delta{Attempt: 1, Text: "Old"})
	if _, err := one.Renew(ctx, old, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	lease := claim(t, other, "taken", "two")
	appendAll(t, other, lease, 2, with("taken", 3, recovery.Failed{Attempt: 1, Text: "Ol"}), with("taken", 4, recovery.Began{Attempt: 2}))
	if err := other.SaveTail(ctx, lease, timeline.Tail{Attempt: 2, Text: "New"}); err != nil {
		t.Fatal(err)
	}
	wantError(t, "the old owner's append", one.Append(ctx, old, 2, with("taken", 3, recovery.Answered{Attempt: 1})), timeline.ErrStale)
	var last recovery.Body
	for item, err := range one.Follow(ctx, "taken", 0) {
		if err != nil {
			t.Fatalf("after %+v: %v", last, err)
		}
		if item.Event != nil {
			last = item.Event.Body
			continue
		}
		if d := *item.Delta; d.Attempt != 2 || d.Text != "New" {
			t.Errorf("the follower gets %+v after %+v", d, last)
		}
		return
	}
	t.Errorf("the follower gets no text after %+v", last)
}
