package sqlite

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// TestRecent: a run whose events lie in both tables is whole, in order, whoever reads or
// repeats it, and is deleted from both.
func TestRecent(t *testing.T) {
	const each, appends = 40, 60 // of two runs: more than maxRecent
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	ctx := t.Context()
	for _, run := range []string{"r", "r2"} {
		l, err := s.Claim(ctx, run, "a", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for after := uint64(0); after < each*appends; after += each {
			var events []recovery.Event
			for seq := after + 1; seq <= after+each; seq++ {
				events = append(events, noted(run, seq))
			}
			events[0].Text = fmt.Sprintf("%*d", 2*maxRecentSize, after) // goes where it belongs at once
			for range 2 {
				if err := s.Append(ctx, l, after, events...); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Release(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	if recent := count(t, s, "recent"); recent == 0 || recent > maxRecent {
		t.Errorf("%d events are recent", recent)
	}
	wantSeqs(t, s, each*appends)
	wantSeqs(t, other, each*appends)
	for after := uint64(0); after < each*appends; after += 7 {
		const limit = 3
		events, err := other.Read(ctx, "r", after, limit)
		if err != nil || len(events) != int(min(limit, each*appends-after)) {
			t.Fatalf("after %d: %v, %v", after, events, err)
		}
		for i, e := range events {
			if want := after + uint64(i) + 1; e.Seq != want {
				t.Fatalf("after %d: event %d where %d should be", after, e.Seq, want)
			}
		}
	}
	if err := other.Delete(ctx, "r", "r2"); err != nil {
		t.Fatal(err)
	}
	if left := count(t, s, "timeline"); left > 0 {
		t.Errorf("%d events are left", left)
	}
}

// TestRepeatedInAGroup: an append that is repeated while its first try is being written is
// the same append.
func TestRepeatedInAGroup(t *testing.T) {
	s := open(t, t.TempDir())
	const runs, appends = 8, 20
	var all sync.WaitGroup
	for i := range runs {
		run := fmt.Sprint("r", i)
		l, err := s.Claim(t.Context(), run, "a", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for seq := uint64(1); seq <= appends; seq++ {
				var both sync.WaitGroup
				for range 2 {
					both.Go(func() {
						if err := s.Append(t.Context(), l, seq-1, noted(run, seq)); err != nil {
							t.Error(err)
						}
					})
				}
				both.Wait()
			}
		})
	}
	all.Wait()
	if stored := count(t, s, "timeline"); stored != runs*appends {
		t.Errorf("%d events are stored, not %d", stored, runs*appends)
	}
}

func count(t *testing.T, s opened, table string) (n int) {
	t.Helper()
	if err := s.each(t.Context(), "SELECT COUNT(*) FROM "+table, func(r row) error { return r.Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}
