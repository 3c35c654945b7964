package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// extending is a write of noted events to the run of l.
func extending(t *testing.T, s opened, l timeline.Lease, after uint64, events ...recovery.Event) *write {
	t.Helper()
	w, err := s.appending(&timeline.Append{Lease: l, After: after, Events: events, Head: timeline.Summary{Run: l.Run, Seq: after + uint64(len(events))}, EndsTail: true})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestI34Group: writes that share a transaction are refused each for itself, in the order of
// their run, and those that are not are written.
func TestI34Group(t *testing.T) {
	s := open(t, pgtest.Database(t))
	leases := map[string]timeline.Lease{}
	for _, run := range []string{"well", "stale", "other", "conflict", "twice"} {
		l, err := s.Claim(t.Context(), run, "me", time.Hour)
		if err == nil {
			err = s.Append(t.Context(), l, 0, noted(run, 1))
		}
		if err != nil {
			t.Fatal(err)
		}
		leases[run] = l
	}
	stale, other := leases["stale"], leases["other"]
	if _, err := s.Claim(t.Context(), "stale", "me", time.Hour); err != nil {
		t.Fatal(err)
	}
	other.Owner = "somebody"
	unknown := timeline.Lease{Run: "unknown", Owner: "me", Epoch: 1}
	group := []struct {
		*write
		want error
	}{
		{extending(t, s, leases["well"], 1, noted("well", 2), noted("well", 3)), nil},
		{extending(t, s, stale, 1, noted("stale", 2)), timeline.ErrStale},
		{extending(t, s, other, 1, noted("other", 2)), timeline.ErrStale},
		{extending(t, s, leases["conflict"], 2, noted("conflict", 3)), timeline.ErrConflict},
		{extending(t, s, unknown, 1, noted("unknown", 2)), timeline.ErrNotFound},
		{extending(t, s, leases["twice"], 1, noted("twice", 2)), nil},
		{extending(t, s, leases["twice"], 1, noted("twice", 2)), timeline.ErrConflict},
		{extending(t, s, leases["twice"], 2, noted("twice", 3)), nil},
	}
	var writes []*write
	for _, w := range group {
		writes = append(writes, w.write)
	}
	if n := len(stepsOf(writes)); n != 3 {
		t.Errorf("%d statements; those of one run that follow one another need one each, and all others share one", n)
	}
	if err := s.appends.transact(t.Context(), writes); err != nil {
		t.Fatal(err)
	}
	for i, w := range group {
		var err error
		if w.rows == 0 {
			err = w.refusal(t.Context())
		}
		if !errors.Is(err, w.want) || w.want == nil && err != nil {
			t.Errorf("I34: write %d, to %s: %v, want %v", i, w.run, err, w.want)
		}
	}
	for run, want := range map[string]int{"well": 3, "stale": 1, "other": 1, "conflict": 1, "twice": 3} {
		if events, err := s.Read(t.Context(), run, 0, 0); err != nil || len(events) != want {
			t.Errorf("I34: %s has %d events, want %d (%v)", run, len(events), want, err)
		}
	}
}

// TestGroupOrder: what is written to a run between two appends is written between them.
func TestGroupOrder(t *testing.T) {
	s := open(t, pgtest.Database(t))
	l, err := s.Claim(t.Context(), "r", "me", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	says := func(seq uint64) *write { return s.saying(l, timeline.Tail{Attempt: seq, Seq: seq, Text: "said"}) }
	for _, test := range []struct {
		name  string
		group []*write
		tail  bool
	}{
		{"ended", []*write{says(0), extending(t, s, l, 0, noted("r", 1))}, false},
		{"after it", []*write{extending(t, s, l, 1, noted("r", 2)), says(2)}, true},
		{"in between", []*write{extending(t, s, l, 2, noted("r", 3)), says(3), extending(t, s, l, 3, noted("r", 4))}, false},
	} {
		if err := s.appends.transact(t.Context(), test.group); err != nil {
			t.Fatal(err)
		}
		if tail, err := s.Store.LoadTail(t.Context(), "r"); err != nil || (tail.Text != "") != test.tail {
			t.Errorf("%s: the tail is %+v, %v", test.name, tail, err)
		}
	}
}
