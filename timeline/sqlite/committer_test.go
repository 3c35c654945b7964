package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// TestFailureInAGroup: a write that fails in the database fails alone, although others share its
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

// TestPatience: a tail is written at once, but not more often than the pace allows, and so are
// leases; other writes neither wait for those nor are delayed by them.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, t.TempDir())
		lease, err := s.Claim(t.Context(), "r1", "me", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(pace)
		began := time.Now()
		for i, c := range []struct {
			name  string
			write func() error
		}{
			{"text", func() error { return s.SaveTail(t.Context(), lease, timeline.Tail{Attempt: 1, Text: "Hel"}) }},
			{"more text", func() error { return s.SaveTail(t.Context(), lease, timeline.Tail{Attempt: 1, Text: "Hello"}) }},
			{"a lease that is kept", func() error { _, err := s.Renew(t.Context(), lease, time.Hour); return err }},
			{"a lease that is given back", func() error { return s.Release(t.Context(), lease) }},
		} {
			kept := make(chan time.Duration, 1)
			go func() {
				if err := c.write(); err != nil {
					t.Error(err)
				}
				kept <- time.Since(began)
			}()
			synctest.Wait()
			for n := 0; n < 4 && i > 0; n++ {
				if len(kept) > 0 {
					t.Errorf("%s is written although something was a moment ago", c.name)
				}
				at := time.Now()
				if err := s.SetSession(t.Context(), timeline.Session{ID: "one"}); err != nil || time.Since(at) > 0 {
					t.Errorf("something else has to wait for %v (%v)", time.Since(at), err)
				}
				time.Sleep(pace / 4)
			}
			synctest.Wait()
			select {
			case got := <-kept:
				if want := time.Duration(i) * pace; got != want {
					t.Errorf("%s is written after %v, not after %v", c.name, got, want)
				}
			default:
				t.Errorf("%s is not written after %v", c.name, time.Since(began))
			}
		}
	})
}
