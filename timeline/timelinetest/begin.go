package timelinetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// beginnings makes the first events of a run: Started with says as its input, and the claim.
func beginnings(run, says string) func(timeline.Lease) []recovery.Event {
	return func(l timeline.Lease) []recovery.Event {
		return []recovery.Event{started(run, "", says), with(run, 2, recovery.Claimed{Owner: l.Owner, Epoch: l.Epoch})}
	}
}

func testBegin(t *testing.T, log timeline.Log) {
	first := beginnings("r", "hi")
	l, err := log.Begin(t.Context(), "r", "a", time.Hour, first)
	if err != nil || l.Run != "r" || l.Owner != "a" || l.Epoch != 1 || time.Until(l.Expires) <= 0 {
		t.Fatalf("lease %+v, %v", l, err)
	}
	wantEvents(t, log, first(l)...)
	if s := only(t, log); s.Owner != "a" || s.Seq != 2 || s.Title != "hi" {
		t.Errorf("it is listed as %+v", s)
	}
	again, err := log.Begin(t.Context(), "r", "a", time.Hour, first) // as if the caller had not seen its success
	if err != nil || again.Epoch != l.Epoch || again.Owner != l.Owner {
		t.Errorf("lease of the same beginning: %+v, %v", again, err)
	}
	wantEvents(t, log, first(l)...)
	third := event("r", 3, "x")
	appendAll(t, log, l, 2, third)
	for who, says := range map[string]string{"a": "something else", "b": "hi"} {
		_, err := log.Begin(t.Context(), "r", who, time.Hour, beginnings("r", says))
		wantError(t, "another beginning by "+who, err, timeline.ErrConflict)
	}
	wantEvents(t, log, append(first(l), third)...)
}

func testBeginRefused(t *testing.T, log timeline.Log) {
	none := func(timeline.Lease) []recovery.Event { return nil }
	for name, err := range map[string]error{
		"a run without an event": second(log.Begin(t.Context(), "r", "a", time.Hour, none)),
		"another run":            second(log.Begin(t.Context(), "r", "a", time.Hour, beginnings("q", "hi"))),
		"a run without an id":    second(log.Begin(t.Context(), "", "a", time.Hour, beginnings("", "hi"))),
		"a run of nobody":        second(log.Begin(t.Context(), "r", "", time.Hour, beginnings("r", "hi"))),
	} {
		if err == nil {
			t.Errorf("%s was begun", name)
		}
	}
	turn(t, log, "r1", "s", "", recovery.StatusCompleted)
	_, err := log.Begin(t.Context(), "r", "a", time.Hour, func(timeline.Lease) []recovery.Event {
		return []recovery.Event{joins("r", "s", "")}
	})
	wantError(t, "a run that does not continue its session", err, timeline.ErrSession)
	if _, err := log.Read(t.Context(), "r", 0, 0); !errors.Is(err, timeline.ErrNotFound) {
		t.Errorf("a run that did not begin: %v", err)
	}
	if l, err := log.Begin(t.Context(), "r", "a", time.Hour, beginnings("r", "hi")); err != nil || l.Epoch != 1 {
		t.Errorf("lease %+v, %v", l, err)
	}
}

func second(_ timeline.Lease, err error) error { return err }

// testBeginClaimed: a run that was claimed and has no events may begin once its owner has released
// it, with the epoch of the next claim.
func testBeginClaimed(t *testing.T, log timeline.Log) {
	old := claim(t, log, "r", "a")
	first := beginnings("r", "hi")
	_, err := log.Begin(t.Context(), "r", "b", time.Hour, first)
	wantError(t, "a run that somebody has", err, timeline.ErrOwned)
	if err := log.Release(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	l, err := log.Begin(t.Context(), "r", "b", time.Hour, first)
	if err != nil || l.Epoch != 2 || l.Owner != "b" {
		t.Fatalf("lease %+v, %v", l, err)
	}
	wantEvents(t, log, first(l)...)
	if again, err := log.Begin(t.Context(), "r", "b", time.Hour, first); err != nil || again.Epoch != 2 {
		t.Errorf("lease of the same beginning: %+v, %v", again, err)
	}
	wantError(t, "the old owner's append", log.Append(t.Context(), old, 2, event("r", 3, "x")), timeline.ErrStale)
}

func testBeginRace(t *testing.T, log timeline.Log) {
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			owner := fmt.Sprint("owner", i)
			_, err := log.Begin(t.Context(), "r", owner, time.Hour, beginnings("r", owner))
			switch {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, timeline.ErrConflict):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of 16 began the run", won.Load())
	}
	if events, err := log.Read(t.Context(), "r", 0, 0); err != nil || len(events) != 2 {
		t.Errorf("it has %d events, %v", len(events), err)
	}
}
