package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// bare is a store without a Journal, which would hear its rings.
func bare(t *testing.T, url string) *Store {
	t.Helper()
	s, err := openStore(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// rung waits until a store hears of a run.
func rung(t *testing.T, s *Store, run string) (before []string) {
	t.Helper()
	for deadline := time.After(time.Minute); ; {
		select {
		case runs := <-s.Rings():
			if slices.Contains(runs, run) {
				return before
			}
			before = append(before, runs...)
		case <-deadline:
			t.Fatalf("%s did not ring", run)
		}
	}
}

// listens waits until a store would hear of others.
func listens(t *testing.T, s *Store) {
	t.Helper()
	if _, _, err := s.Moved(t.Context(), []string{"r"}); err != nil {
		t.Fatal(err)
	}
	if runs := <-s.Rings(); len(runs) != 0 {
		t.Errorf("the first ring names %q", runs)
	}
}

// TestDoorbell: a store hears which runs others write to, and nothing of its own; what it missed
// while its connection was broken is any run.
func TestDoorbell(t *testing.T) {
	url := pgtest.Database(t)
	a, b := bare(t, url), bare(t, url)
	listens(t, a)
	listens(t, b)
	writes := func(s *Store, run string) {
		t.Helper()
		head, err := s.Claim(t.Context(), run, "me", time.Hour)
		if err == nil {
			l := timeline.Lease{Run: run, Owner: "me", Epoch: head.Epoch}
			err = s.Append(t.Context(), &timeline.Append{Lease: l, Events: []recovery.Event{noted(run, 1)}, Head: timeline.Summary{Run: run, Seq: 1}, Durable: func() {}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	writes(a, "of a")
	rung(t, b, "of a")
	writes(b, "of b")
	if own := rung(t, a, "of b"); slices.Contains(own, "of a") {
		t.Errorf("a heard of its own: %q", own)
	}
	do(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if runs := <-b.Rings(); len(runs) != 0 {
		t.Errorf("after it listens anew, the ring names %q", runs)
	}
	for n, heard := 0, false; !heard; n++ { // the connection that rings may be broken as well
		writes(a, fmt.Sprint("later ", n))
		select {
		case runs := <-b.Rings():
			heard = len(runs) > 0
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("nothing rings any more")
		}
	}
}

// TestRingFits: what is too long for the database names nothing.
func TestRingFits(t *testing.T) {
	short, long := said(ring{"m", []string{"r"}}), said(ring{"m", []string{strings.Repeat("é", maxRing)}})
	if short != `{"m":"m","r":["r"]}` || long != `{"m":"m"}` {
		t.Error(short, long)
	}
}
