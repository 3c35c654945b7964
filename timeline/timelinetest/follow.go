package timelinetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

func testFollow(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	for seq := uint64(1); seq <= 200; seq++ {
		appendAll(t, log, l, seq-1, event("r", seq, "x"))
	}
	next := uint64(151)
	for item, err := range log.Follow(bounded(t), "r", 150) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event.Seq != next {
			t.Fatalf("event %d after %d", item.Event.Seq, next-1)
		}
		if next++; next > 210 {
			return
		}
		if next > 200 {
			appendAll(t, log, l, next-1, event("r", next, "live"))
		}
	}
	t.Fatalf("the follower stopped before event %d", next)
}

// testFollowConcurrent: followers that begin anywhere see every event once, while events are being
// appended.
func testFollowConcurrent(t *testing.T, log timeline.Log) {
	const last = 400
	l := claim(t, log, "r", "a")
	ctx := bounded(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			next := uint64(i)*40 + 1
			for item, err := range log.Follow(ctx, "r", next-1) {
				if err != nil {
					t.Error(err)
					return
				}
				if item.Event == nil {
					continue
				}
				if item.Event.Seq != next {
					t.Errorf("follower %d: event %d, want %d", i, item.Event.Seq, next)
					return
				}
				next++
			}
			if next != last+1 {
				t.Errorf("follower %d ended before event %d", i, next)
			}
		})
	}
	for seq := uint64(1); seq < last; seq++ {
		appendAll(t, log, l, seq-1, event("r", seq, "x"))
		log.Publish("r", timeline.Delta{Attempt: 1, Text: "live"})
	}
	appendAll(t, log, l, last-1, with("r", last, recovery.Ended{Status: recovery.StatusCompleted}))
	wg.Wait()
}

func testFollowEnded(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	appendAll(t, log, l, 0, started("r", "", "x"), with("r", 2, recovery.Ended{Status: recovery.StatusCompleted}))
	for after, want := range []int{2, 1, 0, 0} {
		n := 0
		for _, err := range log.Follow(bounded(t), "r", uint64(after)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("after %d: %d items, want %d", after, n, want)
		}
	}
}

func testFollowStops(t *testing.T, log timeline.Log) {
	for _, err := range log.Follow(bounded(t), "nobody", 0) {
		wantError(t, "follow of an unknown run", err, timeline.ErrNotFound)
	}
	l := claim(t, log, "r", "a")
	appendAll(t, log, l, 0, event("r", 1, "x"))
	ctx, cancel := context.WithCancel(t.Context())
	for _, err := range log.Follow(ctx, "r", 0) {
		if err != nil {
			t.Fatalf("a cancelled follower got an error: %v", err)
		}
		cancel()
	}
	cancel()
}

// testFollowSlow: a follower that does not read delays nobody, and gets every event in the end.
func testFollowSlow(t *testing.T, log timeline.Log) {
	const last = timeline.MaxBehind * 3
	l := claim(t, log, "r", "a")
	appendAll(t, log, l, 0, event("r", 1, "x"))
	next := uint64(1)
	for item, err := range log.Follow(bounded(t), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event == nil {
			continue
		}
		if item.Event.Seq != next {
			t.Fatalf("event %d, want %d", item.Event.Seq, next)
		}
		if next == 1 { // the follower is in this loop, so it does not read
			for seq := uint64(2); seq <= last; seq++ {
				appendAll(t, log, l, seq-1, event("r", seq, "x"))
				log.Publish("r", timeline.Delta{Attempt: 1, Text: strings.Repeat("long ", 1000)})
			}
		}
		if next++; next > last {
			return
		}
	}
	t.Fatal("the follower stopped")
}

// testFollowBehind: for a follower that was too far behind, the first item after the lost ones says
// so, and no other item does. A follower that has not reached the end of the log yet is not behind.
func testFollowBehind(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	appendAll(t, log, l, 0, event("r", 1, "x"))
	flood := func() {
		for range timeline.MaxBehind + 10 {
			log.Publish("r", timeline.Delta{Attempt: 1, Text: "live"})
		}
	}
	events, deltas := 0, 0
	for item, err := range log.Follow(bounded(t), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Event == nil {
			deltas++
		}
		if lost := events == 2 && deltas == 11; item.Behind != lost {
			t.Fatalf("after %d events and %d deltas an item says behind: %t", events, deltas, item.Behind)
		}
		if item.Event != nil {
			events++
			if events == 3 {
				return
			}
			flood() // at event 1 it has not reached the end of the log yet, at event 2 it has
		} else if deltas%10 == 0 { // the last one left of a flood
			appendAll(t, log, l, uint64(events), event("r", uint64(events)+1, "x"))
		}
	}
	t.Fatal("the follower stopped")
}

func testDeltas(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	log.Publish("r", timeline.Delta{Attempt: 1, Text: "nobody hears this"})
	log.Publish("nobody", timeline.Delta{Attempt: 1})
	appendAll(t, log, l, 0, event("r", 1, "x"))
	var got []string
	for item, err := range log.Follow(bounded(t), "r", 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case item.Event != nil && item.Delta != nil, item.Event == nil && item.Delta == nil:
			t.Fatalf("not one thing: %+v", item)
		case item.Delta != nil:
			got = append(got, fmt.Sprintf("%s:%d:%d:%s:%t", item.Delta.Run, item.Delta.Attempt, item.Delta.Offset, item.Delta.Text, item.Delta.Thinking))
		default:
			got = append(got, fmt.Sprint(item.Event.Seq))
			if item.Event.Seq == 2 {
				if s := strings.Join(got, " "); s != "1 r:1:0:Hel:false r:1:3:lo:true 2" {
					t.Errorf("got %s", s)
				}
				return
			}
			log.Publish("r", timeline.Delta{Attempt: 1, Text: "Hel"})
			log.Publish("r", timeline.Delta{Attempt: 1, Offset: 3, Text: "lo", Thinking: true})
			appendAll(t, log, l, 1, event("r", 2, "x"))
		}
	}
	t.Fatal("the follower stopped")
}
