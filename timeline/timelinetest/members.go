package timelinetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Members tests a timeline.Members store that is opened twice.
func Members(t *testing.T, one, other timeline.Store) {
	t.Helper()
	ctx := bounded(t)
	a, b := as[timeline.Members](t, one), as[timeline.Members](t, other)
	for _, join := range []func() error{
		func() error {
			return a.Join(ctx, timeline.Member{Name: "one", Version: "1", Role: "worker", Address: "127.0.0.1:1", Lag: time.Millisecond}, time.Hour)
		},
		func() error { return b.Join(ctx, timeline.Member{Name: "other"}, time.Nanosecond) },
		func() error { _, err := one.Claim(ctx, "r", "one", time.Hour); return err },
	} {
		if err := join(); err != nil {
			t.Fatal(err)
		}
	}
	list, err := b.Members(ctx)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	first, second := list[0], list[1]
	if first.ID == second.ID || first.Name != "one" || first.Version != "1" || first.Role != "worker" || first.Address != "127.0.0.1:1" || first.Lag != time.Millisecond ||
		first.Gone || first.Drives != 1 || first.Joined.IsZero() || second.Name != "other" || !second.Gone || second.Drives != 0 {
		t.Errorf("%+v", list)
	}
	if err := b.Join(ctx, timeline.Member{Name: "other", Version: "2"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := a.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	list, err = b.Members(ctx)
	if err != nil || len(list) != 1 || list[0].Gone || list[0].Version != "2" || list[0].ID != second.ID {
		t.Errorf("%+v, %v", list, err)
	}
}

// BulkClaims tests a timeline.BulkClaimer store that is opened twice: when several owners ask at
// once, each due run goes to one of them, in the order of the runs, and no other run does.
func BulkClaims(t *testing.T, one, other timeline.Store) {
	t.Helper()
	ctx := bounded(t)
	first, second := as[timeline.BulkClaimer](t, one), as[timeline.BulkClaimer](t, other)
	const runs = 60
	j := timeline.NewJournal(one) // the caller closes its store
	due := time.Unix(1000, 0).UTC()
	var begin sync.WaitGroup
	for i := range runs {
		begin.Go(func() { begun(t, j, fmt.Sprintf("due%03d", i), due.Add(time.Duration(i)*time.Second), true) })
	}
	begin.Go(func() { begun(t, j, "later", due.Add(time.Hour), true) })
	begin.Go(func() { begun(t, j, "owned", due, false) })
	begin.Wait()
	at := due.Add(runs * time.Second)
	if got, err := second.ClaimDue(ctx, "first", time.Hour, at, false, nil, 2, "due000", "due002"); err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	} else {
		for _, h := range got {
			if h.Run != "due001" && h.Run != "due003" || h.Owner != "first" || h.Epoch != 2 || h.Seq != 1 {
				t.Errorf("claimed first: %+v", h)
			}
		}
	}
	if got, err := first.ClaimDue(ctx, "w", time.Hour, at, true, nil, 10); err != nil || len(got) > 0 {
		t.Errorf("none waits: %+v, %v", got, err)
	}
	claimed := claimAll(t, at, first, second)
	if len(claimed) != runs-2 || claimed["later"]+claimed["owned"] != "" {
		t.Errorf("%d runs are claimed, %q and %q", len(claimed), claimed["later"], claimed["owned"])
	}
	if h, err := one.Heads(ctx, "due040"); err != nil || len(h) != 1 || h[0].Owner != claimed["due040"] || h[0].Epoch != 2 {
		t.Errorf("%+v, %v", h, err)
	}
}

// claimAll makes four owners claim what is due by at until nothing is left, and says which owner
// got which run.
func claimAll(t *testing.T, at time.Time, stores ...timeline.BulkClaimer) map[string]string {
	t.Helper()
	var mu sync.Mutex
	claimed := map[string]string{}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			store := stores[i%len(stores)]
			owner := fmt.Sprint("owner", i)
			for {
				heads, err := store.ClaimDue(t.Context(), owner, time.Hour, at, false, recovery.Labels{}, 7)
				if err != nil {
					t.Error(err)
				}
				if len(heads) == 0 {
					return
				}
				mu.Lock()
				for _, h := range heads {
					if claimed[h.Run] != "" {
						t.Errorf("%s is claimed by %s and by %s", h.Run, claimed[h.Run], owner)
					}
					claimed[h.Run] = owner
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return claimed
}

// begun begins a run, and releases it.
func begun(t *testing.T, j *timeline.Journal, run string, at time.Time, letGo bool) {
	t.Helper()
	l, err := j.Begin(t.Context(), run, "me", time.Hour, func(timeline.Lease) []recovery.Event {
		return []recovery.Event{{Run: run, Seq: 1, Time: at, Body: recovery.Started{Model: "a/one"}}}
	})
	if err == nil && letGo {
		err = j.Release(t.Context(), l)
	}
	if err != nil {
		t.Error(err)
	}
}

// as is a store as one of the optional interfaces, which it must implement.
func as[T any](t *testing.T, store timeline.Store) T {
	t.Helper()
	what, ok := store.(T)
	if !ok {
		t.Fatalf("%T is not a %T", store, what)
	}
	return what
}
