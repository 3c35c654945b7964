package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestFailureInAGroup: what fails in the database fails alone, whoever shares its
// transaction.
func TestFailureInAGroup(t *testing.T) {
	s := open(t, t.TempDir())
	const writers, each = 16, 20
	broken := errors.New("broken")
	var good, bad sync.WaitGroup
	over := make(chan struct{})
	bad.Go(func() {
		for {
			err := s.submit(t.Context(), func(context.Context, *statements) error { return broken }, nil)
			if !errors.Is(err, broken) {
				t.Errorf("what failed was answered by %v", err)
			}
			select {
			case <-over:
				return
			default:
			}
		}
	})
	session := func(w, n int) timeline.Session {
		return timeline.Session{ID: fmt.Sprint(w), Model: fmt.Sprint("a/", n)}
	}
	for w := range writers {
		good.Go(func() {
			for n := range each {
				if err := s.SetSession(t.Context(), session(w, n)); err != nil {
					t.Errorf("a write fails for another: %v", err)
				}
			}
		})
	}
	good.Wait()
	close(over)
	bad.Wait()
	for w := range writers {
		want := session(w, each-1)
		if got, err := s.Session(t.Context(), want.ID); err != nil || got.Model != want.Model {
			t.Errorf("session %s has the model %q (%v), not %q", want.ID, got.Model, err, want.Model)
		}
	}
}

// TestText: text is kept at once, but not more often than pace allows; who waits for
// something else waits for none of that, and holds none of it up.
func TestText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir())
		lease, err := s.Claim(t.Context(), "r1", "me", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		kept := make(chan time.Duration, 1)
		var seq uint64
		say := func() {
			seq++
			e := noted("r1", seq)
			e.Body = recovery.Checkpointed{Attempt: 1, Text: "Hello"}
			go func() {
				if err := s.Append(t.Context(), lease, e.Seq-1, e); err != nil {
					t.Error(err)
				}
				kept <- time.Since(began)
			}()
			synctest.Wait()
		}
		keptAfter := func(want time.Duration) {
			t.Helper()
			synctest.Wait()
			select {
			case got := <-kept:
				if got != want {
					t.Errorf("text %d is kept after %v, not after %v", seq, got, want)
				}
			default:
				t.Errorf("text %d is not kept after %v", seq, time.Since(began))
			}
		}
		time.Sleep(pace)
		say()
		keptAfter(pace)
		say()
		for range 4 {
			if len(kept) > 0 {
				t.Error("text is kept although some was a moment ago")
			}
			at := time.Now()
			if err := s.SetSession(t.Context(), timeline.Session{ID: "one"}); err != nil || time.Since(at) > 0 {
				t.Errorf("something else has to wait for %v (%v)", time.Since(at), err)
			}
			time.Sleep(pace / 4)
		}
		keptAfter(2 * pace)
	})
}
