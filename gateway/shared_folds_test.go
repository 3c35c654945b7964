package gateway

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// inspecting is a Runs that does nothing else.
type inspector struct {
	Runs
	inspect func(context.Context, string) (*recovery.Run, error)
}

func inspecting(f func(context.Context, string) (*recovery.Run, error)) Runs {
	return inspector{inspect: f}
}

func (i inspector) Inspect(ctx context.Context, run string) (*recovery.Run, error) {
	return i.inspect(ctx, run)
}

// left is how many runs are being folded.
func (t *sharedFolds) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.runs)
}

// TestRunsAreFoldedTogether: many who ask at a time share a fold, and it is never one that
// began before they asked.
func TestRunsAreFoldedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var folded, version atomic.Int64
		g := newSharedFolds(inspecting(func(context.Context, string) (*recovery.Run, error) {
			folded.Add(1)
			seen := version.Load()
			time.Sleep(time.Second)
			return &recovery.Run{Seq: uint64(seen)}, nil
		}), nil)
		for n := range 16 {
			go func() {
				time.Sleep(time.Duration(n) * 10 * time.Millisecond)
				wrote := uint64(version.Add(1))
				if run, err := g.get(t.Context(), "r1"); err != nil || run.Seq < wrote {
					t.Errorf("who wrote %d sees %v, %v", wrote, run, err)
				}
			}()
		}
		time.Sleep(10 * time.Second)
		if n := folded.Load(); n != 2 {
			t.Errorf("it was folded %d times", n)
		}
		if n := g.left(); n > 0 {
			t.Errorf("%d are left", n)
		}
	})
}

// TestNobodyIsFoldedFor: a fold ends with the last who waits for it.
func TestNobodyIsFoldedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		g := newSharedFolds(inspecting(func(ctx context.Context, _ string) (*recovery.Run, error) {
			<-ctx.Done()
			ended.Store(true)
			return nil, ctx.Err()
		}), nil)
		first, leave := context.WithCancel(t.Context())
		second, leaveToo := context.WithCancel(t.Context())
		for _, ctx := range []context.Context{first, second} {
			go func() {
				if _, err := g.get(ctx, "r1"); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		leave()
		leaveToo()
		synctest.Wait()
		if n := g.left(); !ended.Load() || n > 0 {
			t.Errorf("%d go on", n)
		}
	})
}

// TestFoldsAreFew: different runs are not all folded at once.
func TestFoldsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		g := newSharedFolds(inspecting(func(context.Context, string) (*recovery.Run, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return &recovery.Run{}, nil
		}), nil)
		for n := range 30 {
			go func() { _, _ = g.get(t.Context(), string(rune('a'+n))) }()
		}
		time.Sleep(time.Minute)
		if n := most.Load(); n != maxFolds {
			t.Errorf("%d at a time", n)
		}
	})
}

// TestAnEndedRunIsFoldedOnce: whoever asks for it while somebody else still has it gets the same,
// unless something was noted of it since.
func TestAnEndedRunIsFoldedOnce(t *testing.T) {
	log, folded := timeline.NewMemory(), 0
	write := func(l timeline.Lease, after uint64, body recovery.Body) {
		t.Helper()
		if err := log.Append(t.Context(), l, after, recovery.Event{Run: "r1", Seq: after + 1, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := log.Claim(t.Context(), "r1", "me", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	g := newSharedFolds(inspecting(func(ctx context.Context, id string) (*recovery.Run, error) {
		folded++
		run := &recovery.Run{}
		events, err := log.Read(ctx, id, 0, 0)
		for _, e := range events {
			err = errors.Join(err, run.Apply(e))
		}
		return run, err
	}), log)
	get := func(want int) *recovery.Run {
		t.Helper()
		run, err := g.get(t.Context(), "r1")
		if err != nil || folded != want {
			t.Fatalf("folded %d times, not %d: %v", folded, want, err)
		}
		return run
	}
	write(l, 0, recovery.Started{Model: "m/one"})
	get(1)
	get(2) // it goes on
	write(l, 1, recovery.Ended{Status: recovery.StatusCancelled})
	run := get(3)
	if same := get(3); same != run {
		t.Error("it is another one")
	}
	write(l, 2, recovery.Noted{Topic: recovery.TopicTooLate})
	if noted := get(4); noted.Seq != 3 || run.Seq != 2 {
		t.Errorf("after %d and %d events", noted.Seq, run.Seq)
	}
}
