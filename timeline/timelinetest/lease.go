package timelinetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

func testClaim(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	if l.Run != "r" || l.Owner != "a" || l.Epoch != 1 || time.Until(l.Expires) <= 0 {
		t.Errorf("first lease: %+v", l)
	}
	_, err := log.Claim(t.Context(), "r", "b", time.Hour)
	wantError(t, "claim of an owned run", err, timeline.ErrOwned)
	var o *timeline.OwnedError
	if !errors.As(err, &o) || o.Owner != "a" || o.Until.Before(l.Expires.Add(-time.Second)) {
		t.Errorf("owned error says %+v, lease %+v", o, l)
	}
	if again := claim(t, log, "r", "a"); again.Epoch != 2 {
		t.Errorf("second lease: %+v", again)
	}
	if _, err := log.Claim(t.Context(), "", "a", time.Hour); err == nil {
		t.Error("a run without an id was claimed")
	}
	if _, err := log.Claim(t.Context(), "q", "", time.Hour); err == nil {
		t.Error("a run was claimed by nobody")
	}
}

func testClaimExpired(t *testing.T, log timeline.Log) {
	old, err := log.Claim(t.Context(), "r", "a", time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Millisecond)
	appendAll(t, log, old, 0, event("r", 1, "late, but nobody else was there"))
	next := claim(t, log, "r", "b")
	if next.Epoch != 2 {
		t.Errorf("stolen lease: %+v", next)
	}
	wantError(t, "old owner's append", log.Append(t.Context(), old, 1, event("r", 2, "x")), timeline.ErrStale)
	appendAll(t, log, next, 1, event("r", 2, "y"))
}

func testClaimRace(t *testing.T, log timeline.Log) {
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			_, err := log.Claim(t.Context(), "r", fmt.Sprint("owner", i), time.Hour)
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, timeline.ErrOwned) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d owners at once", won.Load())
	}
}

func testRelease(t *testing.T, log timeline.Log) {
	old := claim(t, log, "r", "a")
	for range 2 {
		if err := log.Release(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, "append after release", log.Append(t.Context(), old, 0, event("r", 1, "x")), timeline.ErrStale)
	if next := claim(t, log, "r", "b"); next.Epoch != 2 {
		t.Errorf("lease after release: %+v", next)
	}
	wantError(t, "release of an old lease", log.Release(t.Context(), old), timeline.ErrStale)
	wantError(t, "release of an unknown run", log.Release(t.Context(), timeline.Lease{Run: "q"}), timeline.ErrNotFound)
}

func testRenew(t *testing.T, log timeline.Log) {
	old, err := log.Claim(t.Context(), "r", "a", time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	l, err := log.Renew(t.Context(), old, time.Hour)
	if err != nil || l.Epoch != 1 || time.Until(l.Expires) < time.Minute {
		t.Fatalf("renewed: %+v, %v", l, err)
	}
	_, err = log.Claim(t.Context(), "r", "b", time.Hour)
	wantError(t, "claim of a renewed run", err, timeline.ErrOwned)
	claim(t, log, "r", "a")
	_, err = log.Renew(t.Context(), l, time.Hour)
	wantError(t, "renewal of an old epoch", err, timeline.ErrStale)
}
