package timelinetest

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// testKeep: one write keeps all leases of an owner, and no others.
func testKeep(t *testing.T, s timeline.Store) {
	l := expiredLease(t, s, "r", "a")
	unheld := expiredLease(t, s, "unheld", "a")
	another := expiredLease(t, s, "another", "b")
	givenUp := expiredLease(t, s, "given up", "a")
	for _, l := range []timeline.Lease{l, another, givenUp} {
		hold(t, s, l, time.Nanosecond)
	}
	hold(t, s, givenUp, 0)
	keep := func(ttl time.Duration) uint64 {
		life, err := s.Keep(t.Context(), "a", ttl)
		if err != nil {
			t.Fatal(err)
		}
		return life
	}
	life := keep(time.Hour)
	time.Sleep(time.Millisecond)
	if keep(time.Hour) != life {
		t.Error("I36: they were kept in time, and have another life")
	}
	_, err := s.Claim(t.Context(), "r", "c", time.Hour)
	wantError(t, "I36: a claim of a run that is kept", err, timeline.ErrOwned)
	wantError(t, "deleting it", s.Delete(t.Context(), func(string) {}, "r"), timeline.ErrOwned)
	wantDue(t, s, 3)
	for _, l := range []timeline.Lease{unheld, another, givenUp} {
		if taken, _ := lend(t, s, l.Run, "c"); taken.Epoch != 2 {
			t.Errorf("%s is claimed as %+v", l.Run, taken)
		}
	}
	a, _ := appending(t, l, headOf(t, s, "r").Summary, event("r", 2, "x"))
	if err := s.Append(t.Context(), a); err != nil {
		t.Error(err)
	}

	hold(t, s, l, time.Nanosecond)
	keep(time.Nanosecond)
	time.Sleep(time.Millisecond)
	wantDue(t, s, 1)
	lend(t, s, "r", "c")
	if keep(time.Hour) == life {
		t.Error("I36: one was taken, and nobody is told")
	}
	wantError(t, "I36: the lease that was over", s.Hold(t.Context(), l, time.Hour), timeline.ErrStale)
	if taken, h := lend(t, s, "r", "c"); taken.Epoch != 3 || h.Seq != 2 {
		t.Errorf("the new owner has %+v, %+v", taken, h)
	}
}

// Kept tests a store that two Journals have open: while an owner keeps its lease in time through
// one of them, nobody takes the run through the other; when the owner is late, only one other gets
// the run (I36).
func Kept(t *testing.T, one, other timeline.Log) {
	t.Helper()
	ctx := bounded(t)
	l := claim(t, one, "kept", "one")
	appendAll(t, one, l, 0, started("kept", "", "hi"))
	renew := func() error { _, err := one.Renew(ctx, l, time.Nanosecond); return err }
	keep := func(ttl time.Duration) timeline.Kept {
		k, err := one.Keep(ctx, "one", ttl)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	before := time.Now()
	if err := renew(); err != nil {
		t.Fatal(err)
	}
	first := keep(time.Hour)
	if first.Expires.Before(before.Add(time.Hour)) || first.Expires.After(time.Now().Add(time.Hour)) {
		t.Errorf("it says until %s", first.Expires)
	}
	time.Sleep(time.Millisecond)
	_, err := other.Claim(ctx, "kept", "two", time.Hour)
	wantError(t, "I36: a claim of a run that is kept", err, timeline.ErrOwned)
	const rounds = 20
	for round := 1; ; round++ {
		if err := renew(); err != nil {
			t.Fatal(err)
		}
		life := keep(time.Nanosecond).Life
		taken := make(chan error, 1)
		claim := func() {
			_, err := other.Claim(ctx, "kept", "two", time.Hour)
			taken <- err
		}
		if round < rounds {
			go claim()
		} else {
			time.Sleep(time.Millisecond)
			claim() // it keeps its lease in time
		}
		now := keep(time.Hour)
		err := <-taken
		if err != nil && round < rounds {
			wantError(t, "a claim that is late", err, timeline.ErrOwned)
			continue
		}
		if err != nil || now.Life == life {
			t.Fatalf("I36: the run was taken (%v), and its owner is told of life %d after %d", err, now.Life, life)
		}
		wantError(t, "I36: the lease that was over", renew(), timeline.ErrStale)
		return
	}
}

// expiredLease is the lease of a run that owner has begun; it has expired.
func expiredLease(t *testing.T, s timeline.Store, run, owner string) timeline.Lease {
	t.Helper()
	l := timeline.Lease{Run: run, Owner: owner, Epoch: 1}
	a, _ := appending(t, l, timeline.Summary{}, with(run, 1, recovery.Started{Model: "lab/one"}))
	a.Begins = &timeline.Beginning{TTL: time.Nanosecond}
	if err := s.Append(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return l
}

func hold(t *testing.T, s timeline.Store, l timeline.Lease, ttl time.Duration) {
	t.Helper()
	if err := s.Hold(t.Context(), l, ttl); err != nil {
		t.Fatal(err)
	}
}

// wantDue checks that there are want due runs without an owner.
func wantDue(t *testing.T, s timeline.Store, want int) {
	t.Helper()
	list, err := s.List(t.Context(), timeline.Query{Due: epoch.Add(time.Hour), Limit: 100})
	if err != nil || len(list) != want {
		t.Errorf("%d runs are due, not %d: %+v, %v", len(list), want, list, err)
	}
}
