package sqlite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestHeads: whatever happens to runs, what another Store reads of a run is what its events amount
// to, in whichever table they are.
func TestHeads(t *testing.T) {
	const runs, appends, most = 5, 600, 12 // more events than maxRecent
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the same every time
	want := make([]timeline.Summary, runs)
	leases := make([]timeline.Lease, runs)
	for i := range want {
		var err error
		if leases[i], err = s.Claim(t.Context(), fmt.Sprint("r", i), "a", time.Hour); err != nil {
			t.Fatal(err)
		}
		want[i].Owner = "a"
	}
	unwritten := 0
	for n := range appends {
		i := random.IntN(runs)
		after := want[i].Seq
		var events []recovery.Event
		for range random.IntN(most + 1) {
			e := anyEvent(random, leases[i].Run, after+uint64(len(events))+1, n)
			events = append(events, e)
			want[i].Apply(e)
		}
		if err := s.Append(t.Context(), leases[i], after, events...); err != nil {
			t.Fatal(err)
		}
		if want[i].Seq == 0 {
			continue
		}
		h, err := other.find(t.Context(), leases[i].Run)
		if err != nil {
			t.Fatal(err)
		}
		if h.Summary != want[i] {
			t.Fatalf("append %d: it is\n%+v, not\n%+v", n, h.Summary, want[i])
		}
		if count(t, other, "runs WHERE seq < (SELECT max(seq) FROM recent WHERE recent.run = runs.n)") > 0 {
			unwritten++
		}
	}
	if unwritten == 0 {
		t.Error("no append was left to what is recent")
	}
	for i, l := range leases {
		events, err := other.Read(t.Context(), l.Run, 0, 0)
		if err != nil || uint64(len(events)) != want[i].Seq {
			t.Errorf("%s: %d events are read of %d, %v", l.Run, len(events), want[i].Seq, err)
		}
		for n, e := range events {
			if e.Seq != uint64(n)+1 {
				t.Fatalf("%s: event %d where %d should be", l.Run, e.Seq, n+1)
			}
		}
		want[i].Owner = ""
		if err := s.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range want {
		if w.DueAt.IsZero() {
			continue
		}
		for _, at := range []time.Time{w.DueAt.Add(-1), w.DueAt} {
			due, err := other.List(t.Context(), timeline.Query{Due: at})
			if err != nil {
				t.Fatal(err)
			}
			listed := false
			for _, d := range due {
				listed = listed || d == w
			}
			if listed != !at.Before(w.DueAt) {
				t.Errorf("%s is due at %s: listed at %s: %t", w.Run, w.DueAt, at, listed)
			}
		}
	}
}

// anyEvent is one that changes a run's line in a list, or does not; some have the time
// that the run waits for, some are too long to be recent.
func anyEvent(random *rand.Rand, run string, seq uint64, n int) recovery.Event {
	at := time.Unix(int64(1000+n), int64(random.IntN(2))).UTC()
	until := time.Unix(int64(1000+n+random.IntN(3)), 0).UTC()
	bodies := []recovery.Body{
		recovery.Waiting{ID: "w", For: recovery.WaitReset, Until: until},
		recovery.Waiting{ID: "n", For: recovery.WaitNetwork, Until: until},
		recovery.Due{Timer: failure.TimerWait},
		recovery.Began{Attempt: 1, Round: 1, Model: "lab/one"},
		recovery.Suggested{Suggestion: recovery.Suggestion{ID: "s", SuggestedAction: recovery.ActionRetry, ExpiresAt: until}},
		recovery.Accepted{Suggestion: "s"},
	}
	e := noted(run, seq)
	e.Time = at
	switch k := random.IntN(5 * len(bodies)); {
	case k < len(bodies):
		e.Body = bodies[k]
	case k == len(bodies):
		e.Text = strings.Repeat("long ", maxRecentSize)
	case k == len(bodies)+1 && random.IntN(100) == 0:
		e.Body = recovery.Ended{Status: recovery.StatusCompleted}
	}
	return e
}
