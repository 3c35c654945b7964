package timelinetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Store tests the primitives of the stores that open gives, which must be empty; Run tests what a
// Journal makes of them. Store closes each of them.
func Store(t *testing.T, open func(t *testing.T) timeline.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, timeline.Store)
	}{
		{"Fence", testFence},
		{"Beginning", testBeginning},
		{"BeginningRace", testBeginningRace},
		{"BeginningOfNobody", testBeginningOfNobody},
		{"Durable", testDurable},
		{"DurableUnseen", testDurableUnseen},
		{"Hold", testHold},
		{"Keep", testKeep},
		{"Head", testHead},
		{"Join", testJoin},
		{"JoinRace", testJoinRace},
		{"Blob", testBlob},
		{"StoredTail", testStoredTail},
		{"Sent", testSent},
		{"Gone", testGone},
		{"Moved", testMoved},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			test.run(t, s)
		})
	}
}

// told counts how often an Append was reported durable.
type told struct{ n atomic.Int32 }

// appending is the Append of events to l's run, whose summary without them is before.
func appending(t *testing.T, l timeline.Lease, before timeline.Summary, events ...recovery.Event) (*timeline.Append, *told) {
	t.Helper()
	a, durable := &timeline.Append{Lease: l, After: before.Seq, Events: events, Head: before}, &told{}
	a.Head.Owner = l.Owner
	for _, e := range events {
		a.Head.Apply(e)
	}
	a.Durable = func() { durable.n.Add(1) }
	return a, durable
}

// keep appends, and gives the run's new summary.
func keep(t *testing.T, s timeline.Store, l timeline.Lease, before timeline.Summary, events ...recovery.Event) timeline.Summary {
	t.Helper()
	a, _ := appending(t, l, before, events...)
	if err := s.Append(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a.Head
}

// lend claims run for owner.
func lend(t *testing.T, s timeline.Store, run, owner string) (timeline.Lease, timeline.Head) {
	t.Helper()
	h, err := s.Claim(t.Context(), run, owner, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return timeline.Lease{Run: run, Owner: owner, Epoch: h.Epoch}, h
}

func headOf(t *testing.T, s timeline.Store, run string) timeline.Head {
	t.Helper()
	heads, err := s.Heads(t.Context(), run)
	if err != nil || len(heads) != 1 {
		t.Fatalf("heads of %s: %+v, %v", run, heads, err)
	}
	return heads[0]
}

// refused appends a, and checks that it fails with that error and writes nothing.
func refused(t *testing.T, s timeline.Store, what string, want error, a *timeline.Append, durable *told) {
	t.Helper()
	before, _ := s.Heads(t.Context(), a.Lease.Run)
	wantError(t, what, s.Append(t.Context(), a), want)
	after, err := s.Heads(t.Context(), a.Lease.Run)
	if err != nil || !slices.Equal(before, after) || durable.n.Load() > 0 {
		t.Errorf("%s: heads were %+v, are %+v, %v; said to be durable %d times", what, before, after, err, durable.n.Load())
	}
}

// testFence: only the owner of the newest epoch appends, and only what follows.
func testFence(t *testing.T, s timeline.Store) {
	l, _ := lend(t, s, "r", "a")
	one := keep(t, s, l, timeline.Summary{}, started("r", "", "hi"))
	two := keep(t, s, l, one, event("r", 2, "x"))
	for what, bad := range map[string]timeline.Lease{
		"I34: another owner": {Run: "r", Owner: "b", Epoch: 1},
		"an epoch to come":   {Run: "r", Owner: "a", Epoch: 2},
		"nobody of epoch 1":  {Run: "r", Epoch: 1},
	} {
		a, durable := appending(t, bad, two, event("r", 3, "y"))
		refused(t, s, what, timeline.ErrStale, a, durable)
	}
	unknown, durable := appending(t, timeline.Lease{Run: "q", Owner: "a", Epoch: 1}, timeline.Summary{}, started("q", "", "hi"))
	refused(t, s, "an unknown run", timeline.ErrNotFound, unknown, durable)
	again, durable := appending(t, l, one, event("r", 2, "x"))
	refused(t, s, "I02: an event that is there", timeline.ErrConflict, again, durable)
	late, durable := appending(t, l, timeline.Summary{Run: "r", Seq: 5}, event("r", 6, "x"))
	refused(t, s, "a gap", timeline.ErrConflict, late, durable)
	none, durable := appending(t, l, two)
	if err := s.Append(t.Context(), none); err != nil || durable.n.Load() != 1 {
		t.Errorf("no event: %v, said to be durable %d times", err, durable.n.Load())
	}
	next, _ := lend(t, s, "r", "a")
	old, durable := appending(t, l, two, event("r", 3, "y"))
	refused(t, s, "I34: an older epoch", timeline.ErrStale, old, durable)
	keep(t, s, next, two, event("r", 3, "z"))
}

// testBeginning: the claim and the first events are one step, or none.
func testBeginning(t *testing.T, s timeline.Store) {
	begin := func(run, owner string, epoch uint64) (*timeline.Append, *told) {
		a, durable := appending(t, timeline.Lease{Run: run, Owner: owner, Epoch: epoch}, timeline.Summary{}, started(run, "", "hi"))
		a.Begins = &timeline.Beginning{TTL: time.Hour}
		return a, durable
	}
	a, durable := begin("r", "a", 1)
	if err := s.Append(t.Context(), a); err != nil || durable.n.Load() != 1 {
		t.Fatalf("%v, said to be durable %d times", err, durable.n.Load())
	}
	if h := headOf(t, s, "r"); h.Epoch != 1 || h.Owner != "a" || h.Seq != 1 || h.Title != "hi" {
		t.Errorf("it begins as %+v", h)
	}
	_, err := s.Claim(t.Context(), "r", "b", time.Hour)
	wantError(t, "a claim of a run that has just begun", err, timeline.ErrOwned)
	a, durable = begin("r", "b", 2)
	refused(t, s, "a second beginning", timeline.ErrConflict, a, durable)

	l, _ := lend(t, s, "q", "a")
	a, durable = begin("q", "b", 2)
	refused(t, s, "a run that somebody has", timeline.ErrOwned, a, durable)
	if err := s.Hold(t.Context(), l, 0); err != nil {
		t.Fatal(err)
	}
	a, durable = begin("q", "b", 1)
	refused(t, s, "an epoch that was", timeline.ErrStale, a, durable)
	a, _ = begin("q", "b", 2)
	if err := s.Append(t.Context(), a); err != nil {
		t.Error(err)
	}
	if h := headOf(t, s, "q"); h.Epoch != 2 || h.Owner != "b" || h.Seq != 1 {
		t.Errorf("it begins as %+v", h)
	}
}

func testBeginningRace(t *testing.T, s timeline.Store) {
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		a, _ := appending(t, timeline.Lease{Run: "r", Owner: fmt.Sprint("owner", i), Epoch: 1}, timeline.Summary{}, started("r", "", "hi"))
		a.Begins = &timeline.Beginning{TTL: time.Hour}
		wg.Go(func() {
			if err := s.Append(t.Context(), a); err == nil {
				won.Add(1)
			} else {
				wantError(t, "the other beginnings", err, timeline.ErrConflict)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || headOf(t, s, "r").Seq != 1 {
		t.Errorf("%d of 16 began the run, which is %+v", won.Load(), headOf(t, s, "r"))
	}
}

// testBeginningOfNobody: an imported run has no owner, an epoch from its past, and an inbox that
// continues.
func testBeginningOfNobody(t *testing.T, s timeline.Store) {
	a, _ := appending(t, timeline.Lease{Run: "r", Epoch: 7}, timeline.Summary{}, started("r", "", "hi"))
	a.Begins = &timeline.Beginning{Inbox: 4}
	if err := s.Append(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if h := headOf(t, s, "r"); h.Epoch != 7 || h.Owner != "" || h.Inbox != 4 {
		t.Errorf("it is taken over as %+v", h)
	}
	if n, err := s.Send(t.Context(), "r", timeline.Command{ID: "c", Body: recovery.CancelRequested{}}, func(uint64) {}); n != 5 || err != nil {
		t.Errorf("its next command is at position %d, %v", n, err)
	}
	if l, h := lend(t, s, "r", "a"); l.Epoch != 8 || h.Seq != 1 || h.Inbox != 5 {
		t.Errorf("it is claimed as %+v, %+v", l, h)
	}
}

// testDurable: an append is reported durable once, before it returns, and in the run's order.
func testDurable(t *testing.T, s timeline.Store) {
	l, _ := lend(t, s, "r", "a")
	var order []uint64
	var head timeline.Summary
	for seq := uint64(1); seq <= 20; seq++ {
		a, _ := appending(t, l, head, event("r", seq, "x"))
		a.Durable = func() { order = append(order, seq) }
		if err := s.Append(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if len(order) != int(seq) || order[seq-1] != seq {
			t.Fatalf("after event %d it was said of %v", seq, order)
		}
		head = a.Head
	}
}

// testDurableUnseen: a cancelled append may have been written nevertheless, and is then reported
// durable.
func testDurableUnseen(t *testing.T, s timeline.Store) {
	l, _ := lend(t, s, "r", "a")
	var head timeline.Summary
	for seq := uint64(1); seq <= 30; seq++ {
		ctx, cancel := context.WithCancel(t.Context())
		a, durable := appending(t, l, head, event("r", seq, "x"))
		go cancel()
		_ = s.Append(ctx, a)
		cancel()
		b, _ := appending(t, l, head, event("r", seq, "x"))
		err := s.Append(t.Context(), b) // after the other
		if was := durable.n.Load(); err == nil && was != 0 || err != nil && was != 1 {
			t.Fatalf("event %d is said to be durable %d times; again: %v", seq, was, err)
		}
		head = b.Head
	}
}

// testHold: the owner of a lease can keep it, and nobody has the run once it was released.
func testHold(t *testing.T, s timeline.Store) {
	l, _ := lend(t, s, "r", "a")
	hold := func(l timeline.Lease, ttl time.Duration) error { return s.Hold(t.Context(), l, ttl) }
	other := l
	other.Owner = "b"
	wantError(t, "another's lease", hold(other, time.Hour), timeline.ErrStale)
	if err := hold(l, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	if err := hold(l, time.Hour); err != nil {
		t.Errorf("a lease that is over and that nobody took: %v", err)
	}
	_, err := s.Claim(t.Context(), "r", "b", time.Hour)
	wantError(t, "a claim while it holds", err, timeline.ErrOwned)
	for range 2 {
		if err := hold(l, 0); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, "a lease that was given up", hold(l, time.Hour), timeline.ErrStale)
	lend(t, s, "r", "b")
	wantError(t, "giving up an older one", hold(l, 0), timeline.ErrStale)
	wantError(t, "a lease of an unknown run", hold(timeline.Lease{Run: "q", Owner: "a", Epoch: 1}, time.Hour), timeline.ErrNotFound)
}

// testHead: claims, heads and lists give the summary that the Journal wrote.
func testHead(t *testing.T, s timeline.Store) {
	l, first := lend(t, s, "r", "a")
	if first.Run != "r" || first.Seq != 0 || first.Epoch != 1 || first.Owner != "a" {
		t.Errorf("a new run: %+v", first)
	}
	labelled := with("r", 1, recovery.Started{
		Model: "lab/one", Session: "s", Input: []llm.Message{llm.User("Look")}, Labels: recovery.Labels{"app/x": "1"},
	})
	head := keep(t, s, l, first.Summary, labelled, with("r", 2, waits("w", time.Hour)))
	head = keep(t, s, l, head, with("r", 3, recovery.Noted{}))
	list, err := s.List(t.Context(), timeline.Query{Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	_, claimed := lend(t, s, "r", "a")
	for where, got := range map[string]timeline.Summary{"heads": headOf(t, s, "r").Summary, "list": list[0], "claim": claimed.Summary} {
		same := got.StartedAt.Equal(head.StartedAt) && got.UpdatedAt.Equal(head.UpdatedAt) && got.WaitingUntil.Equal(head.WaitingUntil) && got.DueAt.Equal(head.DueAt)
		got.StartedAt, got.UpdatedAt, got.WaitingUntil, got.DueAt = head.StartedAt, head.UpdatedAt, head.WaitingUntil, head.DueAt
		if !same || got != head {
			t.Errorf("%s: %+v, not %+v", where, got, head)
		}
	}
	if heads, err := s.Heads(t.Context(), "nobody", "r"); err != nil || len(heads) != 1 || heads[0].Run != "r" {
		t.Errorf("%+v, %v", heads, err)
	}
}
