package timelinetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

func testAppend(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	wantEvents(t, log)
	all := []recovery.Event{started("r", "", "hello"), event("r", 2, "x"), event("r", 3, "y")}
	appendAll(t, log, l, 0, all[0])
	appendAll(t, log, l, 1, all[1:]...)
	appendAll(t, log, l, 3)
	wantEvents(t, log, all...)

	part, err := log.Read(t.Context(), "r", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, part, all[1:2])
	if part, err = log.Read(t.Context(), "r", 9, 0); err != nil || len(part) > 0 {
		t.Errorf("read behind the end: %v, %v", part, err)
	}
	_, err = log.Read(t.Context(), "nobody", 0, 0)
	wantError(t, "read of an unknown run", err, timeline.ErrNotFound)
}

func testAppendRefused(t *testing.T, log timeline.Log) {
	old := claim(t, log, "r", "a")
	first := event("r", 1, "x")
	appendAll(t, log, old, 0, first)
	wantError(t, "gap", log.Append(t.Context(), old, 2, event("r", 3, "x")), timeline.ErrConflict)
	wantError(t, "other event", log.Append(t.Context(), old, 0, event("r", 1, "other")), timeline.ErrConflict)
	for name, bad := range map[string]recovery.Event{
		"wrong seq": event("r", 5, "x"), "another run": event("q", 2, "x"), "no body": {Run: "r", Seq: 2},
	} {
		if err := log.Append(t.Context(), old, 1, bad); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	claim(t, log, "r", "a")
	err := log.Append(t.Context(), old, 1, event("r", 2, "x"))
	wantError(t, "older epoch", err, timeline.ErrStale)
	var stale *timeline.StaleError
	if !errors.As(err, &stale) || stale.Epoch != 1 || stale.Newest != 2 {
		t.Errorf("stale error says %#v", stale)
	}
	wantError(t, "older epoch, repeated", log.Append(t.Context(), old, 0, first), timeline.ErrStale)
	wantError(t, "unknown run", log.Append(t.Context(), timeline.Lease{Run: "q", Owner: "a", Epoch: 1}, 0), timeline.ErrNotFound)
	wantEvents(t, log, first)
}

func testAppendAtomic(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	bad := with("r", 2, recovery.Unknown{Type: "odd", Data: json.RawMessage("{")})
	_ = log.Append(t.Context(), l, 0, event("r", 1, "x"), bad)
	if events, err := log.Read(t.Context(), "r", 0, 0); err != nil || len(events) == 1 {
		t.Errorf("half an append is there: %v, %v", events, err)
	}
}

func testAppendRepeated(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	all := []recovery.Event{event("r", 1, "x"), event("r", 2, "y"), event("r", 3, "z")}
	appendAll(t, log, l, 0, all...)
	appendAll(t, log, l, 0, all...)
	appendAll(t, log, l, 1, all[1:]...)
	wantError(t, "partly there", log.Append(t.Context(), l, 2, all[2], event("r", 4, "new")), timeline.ErrConflict)
	wantEvents(t, log, all...)
}

// testAppendCancelled: whatever a cancelled append returns, it happened as a whole or not at all,
// and can be repeated.
func testAppendCancelled(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	var all []recovery.Event
	for seq := uint64(1); seq < 60; seq += 2 {
		ctx, cancel := context.WithCancel(t.Context())
		if seq%4 == 1 {
			cancel()
		} else {
			go cancel()
		}
		pair := []recovery.Event{event("r", seq, "x"), event("r", seq+1, "y")}
		if err := log.Append(ctx, l, seq-1, pair...); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
		appendAll(t, log, l, seq-1, pair...)
		all = append(all, pair...)
	}
	wantEvents(t, log, all...)
}

func testAppendParallel(t *testing.T, log timeline.Log) {
	const runs, each = 24, 20
	var wg sync.WaitGroup
	for i := range runs {
		run := fmt.Sprintf("run%02d", i)
		l := claim(t, log, run, "a")
		wg.Go(func() {
			for seq := uint64(1); seq <= each; seq++ {
				if err := log.Append(t.Context(), l, seq-1, event(run, seq, run)); err != nil {
					t.Errorf("%s: %v", run, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range runs {
		run := fmt.Sprintf("run%02d", i)
		events, err := log.Read(t.Context(), run, 0, 0)
		if err != nil || len(events) != each {
			t.Fatalf("%s: %d events, %v", run, len(events), err)
		}
		for j, e := range events {
			if e.Seq != uint64(j)+1 || e.Run != run {
				t.Fatalf("%s: event %d of run %s at place %d", run, e.Seq, e.Run, j+1)
			}
		}
	}
}

func testUnknown(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	e := with("r", 1, recovery.Unknown{Type: "from_the_future", Data: json.RawMessage(`{"z":1,"a":{"deep":[1.50]}}`)})
	appendAll(t, log, l, 0, e)
	wantEvents(t, log, e)
}
