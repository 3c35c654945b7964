package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

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
