package timeline_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

func noted(seq uint64) recovery.Event {
	return recovery.Event{Run: "r", Seq: seq, Time: time.Unix(int64(seq), 0).UTC(), Body: recovery.Noted{Topic: "progress"}} //nolint:gosec // small
}

// losing returns a store that loses writes, with a run of three events that was claimed twice: five
// writes.
func losing(t *testing.T) (*timelinetest.Losing, *timeline.Journal, timeline.Lease) {
	t.Helper()
	s := timelinetest.NewLosing(timeline.NewMemoryStore)
	j := timeline.NewJournal(s)
	t.Cleanup(func() { _ = j.Close() })
	l, err := j.Claim(t.Context(), "r", "me", time.Hour)
	for seq := uint64(1); err == nil && seq <= 3; seq++ {
		if seq == 2 {
			if err = j.Release(t.Context(), l); err == nil {
				l, err = j.Claim(t.Context(), "r", "me", time.Hour)
			}
		}
		if err == nil {
			err = j.Append(t.Context(), l, seq-1, noted(seq))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, j, l
}

const written = 6 // claim, append, release, claim, append, append

// TestLostTail (I31): whatever part of its acknowledged writes a store has lost, an owner whose
// lease still holds appends them again, whether it writes or renews its lease next.
func TestLostTail(t *testing.T) {
	for n := range written + 1 {
		for what, next := range map[string]func(*timeline.Journal, timeline.Lease) error{
			"append": func(j *timeline.Journal, l timeline.Lease) error { return j.Append(t.Context(), l, 3, noted(4)) },
			"renew": func(j *timeline.Journal, l timeline.Lease) error {
				l, err := j.Renew(t.Context(), l, time.Hour)
				if err == nil {
					err = j.Append(t.Context(), l, 3, noted(4))
				}
				return err
			},
		} {
			t.Run(fmt.Sprint(what, " ", n), func(t *testing.T) {
				s, j, l := losing(t)
				if err := s.Lose(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				if err := next(j, l); err != nil {
					t.Fatal(err)
				}
				events, err := j.Read(t.Context(), "r", 0, 0)
				if err != nil || len(events) != 4 {
					t.Errorf("%d events, want 4 (%v)", len(events), err)
				}
				if heads, err := s.Heads(t.Context(), "r"); err != nil || heads[0].Epoch != l.Epoch || heads[0].Owner != "me" {
					t.Errorf("it is %+v, %v", heads, err)
				}
			})
		}
	}
}

// TestLostTailOfAnother: events that cannot be appended again are reported, and a run that another
// owner has is left to that owner.
func TestLostTailOfAnother(t *testing.T) {
	s, j, l := losing(t)
	if _, err := j.Renew(t.Context(), l, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	if err := s.Lose(t.Context(), 2); err != nil { // the renewal, and event 3
		t.Fatal(err)
	}
	err := j.Append(t.Context(), l, 3, noted(4))
	if e, ok := errors.AsType[*timeline.LostError](err); !ok || !errors.Is(err, timeline.ErrLost) || e.Last != 2 || e.Said != 3 {
		t.Errorf("a lease that is over: %v", err)
	}

	s, j, l = losing(t)
	if err := s.Lose(t.Context(), 3); err != nil { // the claim, and events 2 and 3
		t.Fatal(err)
	}
	if h, err := s.Claim(t.Context(), "r", "another", time.Hour); err != nil || h.Epoch != l.Epoch {
		t.Fatal(h, err)
	}
	if err := j.Append(t.Context(), l, 3, noted(4)); !errors.Is(err, timeline.ErrStale) {
		t.Errorf("the epoch was given to another owner: %v", err)
	}
}
