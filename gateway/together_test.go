package gateway

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
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
func (t *together) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.runs)
}

// TestRunsAreFoldedTogether: many who ask at a time share a fold, and it is never one that
// began before they asked.
func TestRunsAreFoldedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var folded, version atomic.Int64
		g := newTogether(inspecting(func(context.Context, string) (*recovery.Run, error) {
			folded.Add(1)
			seen := version.Load()
			time.Sleep(time.Second)
			return &recovery.Run{Seq: uint64(seen)}, nil
		}))
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
		g := newTogether(inspecting(func(ctx context.Context, _ string) (*recovery.Run, error) {
			<-ctx.Done()
			ended.Store(true)
			return nil, ctx.Err()
		}))
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
		g := newTogether(inspecting(func(context.Context, string) (*recovery.Run, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			return &recovery.Run{}, nil
		}))
		for n := range 30 {
			go func() { _, _ = g.get(t.Context(), string(rune('a'+n))) }()
		}
		time.Sleep(time.Minute)
		if n := most.Load(); n != maxFolds {
			t.Errorf("%d at a time", n)
		}
	})
}
