package timelinetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// began is a run with one attempt, which is in the air.
func began(t *testing.T, log timeline.Log, run string) timeline.Lease {
	t.Helper()
	l := claim(t, log, run, "a")
	appendAll(t, log, l, 0, started(run, "", "x"), with(run, 2, recovery.Began{Attempt: 1, Round: 1, Model: "lab/one"}))
	return l
}

func wantTail(t *testing.T, log timeline.Log, want timeline.Tail) {
	t.Helper()
	if got, err := log.LoadTail(t.Context(), "r"); err != nil || got != want {
		t.Errorf("the tail is %+v, %v; want %+v", got, err, want)
	}
}

// testTail: a run has one tail, which only its owner may save. Text that was published in this
// process is known without being saved, and is forgotten when another process owns the run.
func testTail(t *testing.T, log timeline.Log) {
	_, err := log.LoadTail(t.Context(), "r")
	wantError(t, "tail of an unknown run", err, timeline.ErrNotFound)
	wantError(t, "tail of an unknown run", log.SaveTail(t.Context(), timeline.Lease{Run: "r", Owner: "a", Epoch: 1}, timeline.Tail{}), timeline.ErrNotFound)
	l := began(t, log, "r")
	wantTail(t, log, timeline.Tail{Attempt: 1, Seq: 2})
	for _, said := range []string{"Hel", "Hello"} {
		if err := log.SaveTail(t.Context(), l, timeline.Tail{Attempt: 1, Text: said}); err != nil {
			t.Fatal(err)
		}
	}
	for offset, piece := range []string{"H", "e", "l", "l", "o", "!"} {
		log.Publish("r", timeline.Delta{Attempt: 1, Offset: offset, Text: piece})
	}
	log.Publish("r", timeline.Delta{Attempt: 1, Offset: 9, Text: "after a gap"})
	log.Publish("r", timeline.Delta{Attempt: 1, Offset: 6, Text: "a thought", Thinking: true})
	log.Publish("r", timeline.Delta{Attempt: 2, Offset: 6, Text: "of another attempt"})
	wantTail(t, log, timeline.Tail{Attempt: 1, Seq: 2, Text: "Hello!"})
	next := claim(t, log, "r", "a")
	wantTail(t, log, timeline.Tail{Attempt: 1, Seq: 2, Text: "Hello"})
	wantError(t, "tail of an old owner", log.SaveTail(t.Context(), l, timeline.Tail{Attempt: 1, Text: "old"}), timeline.ErrStale)
	wantTail(t, log, timeline.Tail{Attempt: 1, Seq: 2, Text: "Hello"})
	release(t, log, next)
	wantError(t, "tail of an owner that let go", log.SaveTail(t.Context(), next, timeline.Tail{Attempt: 1, Text: "old"}), timeline.ErrStale)
	if err := log.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	began(t, log, "r")
	wantTail(t, log, timeline.Tail{Attempt: 1, Seq: 2})
}

// testTailEnds: the event that ends an attempt ends its tail, and a save that was given up earlier
// does not bring it back.
func testTailEnds(t *testing.T, log timeline.Log) {
	l := began(t, log, "r")
	seq := uint64(2)
	for attempt, last := range []recovery.Body{
		recovery.Failed{Attempt: 1}, recovery.Answered{Attempt: 2}, recovery.CancelRequested{Attempt: 3}, recovery.Ended{Status: recovery.StatusCancelled},
	} {
		id := uint64(attempt) + 1
		if id > 1 {
			seq++
			appendAll(t, log, l, seq-1, with("r", seq, recovery.Began{Attempt: id}))
		}
		if err := log.SaveTail(t.Context(), l, timeline.Tail{Attempt: id, Offset: 7, Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
		log.Publish("r", timeline.Delta{Attempt: id, Offset: 7, Text: "Hello"})
		wantTail(t, log, timeline.Tail{Attempt: id, Seq: seq, Offset: 7, Text: "Hello"})
		givenUp, giveUp := context.WithCancel(t.Context())
		giveUp()
		seq++
		appendAll(t, log, l, seq-1, with("r", seq, last))
		_ = log.SaveTail(givenUp, l, timeline.Tail{Attempt: id, Offset: 7, Text: "Hello"})
		wantTail(t, log, timeline.Tail{})
	}
}

// testTailIsOver: an owner that was stopped for a long time publishes text after its attempt's last
// event; nobody gets that text.
func testTailIsOver(t *testing.T, log timeline.Log) {
	l := began(t, log, "r")
	given := make(chan timeline.Item, 100)
	go func() {
		defer close(given)
		for item, err := range log.Follow(t.Context(), "r", 0) {
			if err != nil {
				t.Error(err)
			}
			given <- item
		}
	}()
	said := func(attempt uint64, text string) {
		log.Publish("r", timeline.Delta{Attempt: attempt, Offset: 0, Text: text})
	}
	for range 2 { // until the follower listens
		<-given
	}
	appendAll(t, log, l, 2, with("r", 3, recovery.Failed{Attempt: 1, Text: "Hel"}))
	said(1, "Hello")
	appendAll(t, log, l, 3, with("r", 4, recovery.Began{Attempt: 2, Round: 1, Model: "lab/one", Withdraws: 1}))
	said(2, "Good")
	appendAll(t, log, l, 4, with("r", 5, recovery.Answered{Attempt: 2, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "Good morning"}}}}))
	said(2, "Good morning to you")
	appendAll(t, log, l, 5, with("r", 6, recovery.Ended{Status: recovery.StatusCompleted}))
	var got []string
	for item := range given {
		if item.Delta != nil {
			got = append(got, item.Delta.Text)
		}
	}
	for _, text := range got {
		if text != "Good" { // by then it may be only in the event
			t.Errorf("%q was said", got)
		}
	}
}

// testTailLate: a follower that joins in the middle of an attempt gets its reasoning so far as one
// piece and its text so far as another, after the attempt's beginning, and then what is live; even
// with hundreds of followers.
// Text that is live at that moment may come twice, and is then the same.
func testTailLate(t *testing.T, log timeline.Log) {
	const runs = 300
	say := func(from, to int) {
		for i := range runs {
			for n := from; n < to; n++ {
				log.Publish(fmt.Sprint("r", i), timeline.Delta{Attempt: 1, Offset: 5 * n, Text: fmt.Sprintf("%04d ", n)})
				log.Publish(fmt.Sprint("r", i), timeline.Delta{Attempt: 1, Offset: 4 * n, Text: fmt.Sprintf("%03d ", n), Thinking: true})
			}
		}
	}
	for i := range runs {
		began(t, log, fmt.Sprint("r", i))
	}
	say(0, 100)
	for _, after := range []uint64{0, 1, 2} {
		for i := range runs {
			if i%50 == 0 {
				followLate(t, log, fmt.Sprint("r", i), after)
			}
		}
	}
}

func followLate(t *testing.T, log timeline.Log, run string, after uint64) {
	t.Helper()
	var seen []uint64
	thought := false
	for item, err := range log.Follow(bounded(t), run, after) {
		switch {
		case err != nil:
			t.Fatal(err)
		case item.Event != nil:
			seen = append(seen, item.Event.Seq)
			continue
		}
		d, length, last := item.Delta, 500, "0099 "
		if !thought {
			length, last = 400, " 099 "
		}
		if len(seen) != int(2-after) || d.Attempt != 1 || d.Offset != 0 || d.Thinking == thought || len(d.Text) != length || !strings.HasSuffix(d.Text, last) {
			t.Fatalf("I09: %s after %d: %v, then %+v", run, after, seen, d)
		}
		if thought {
			return
		}
		thought = true
	}
	t.Fatalf("I09: %s after %d: the follower stopped after %v", run, after, slices.Max(append(seen, 0)))
}
