package runner_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// unreadable is a log that fails so many times where it is asked for an inbox, for events,
// or to renew a lease.
type unreadable struct {
	*timeline.Journal
	inbox, events, renew atomic.Int32
}

func meets(left *atomic.Int32) error {
	if left.Add(-1) >= 0 {
		return &timeline.StoreError{File: "f", Kind: timeline.ErrDisk, Reason: "the disk failed", Err: syscall.EIO}
	}
	return nil
}

func (l *unreadable) Inbox(ctx context.Context, run string, after uint64, limit int) ([]timeline.Command, error) {
	if err := meets(&l.inbox); err != nil {
		return nil, err
	}
	return l.Journal.Inbox(ctx, run, after, limit)
}

func (l *unreadable) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	if err := meets(&l.events); err != nil {
		return nil, err
	}
	return l.Journal.Read(ctx, run, after, limit)
}

// brief is a log whose first lease, and the first that it renews, are over at once, and that keeps none.
type brief struct {
	*unreadable
	renewed atomic.Int32
}

func (l *brief) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	lease, err := l.unreadable.Begin(ctx, run, owner, ttl, first)
	lease.Expires = time.Now()
	return lease, err
}

func (l *brief) Renew(ctx context.Context, lease timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	if l.renewed.Add(1) > 1 {
		return l.unreadable.Renew(ctx, lease, ttl)
	}
	lease, err := l.Journal.Renew(ctx, lease, ttl)
	lease.Expires = time.Now()
	return lease, err
}

func (l *brief) Keep(context.Context, string, time.Duration) (timeline.Kept, error) {
	return timeline.Kept{}, nil
}

func (l *unreadable) Renew(ctx context.Context, lease timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	if err := meets(&l.renew); err != nil {
		return timeline.Lease{}, err
	}
	return l.Journal.Renew(ctx, lease, ttl)
}

// TestAReadThatFailsHidesNothing: the inbox cannot be read as the run settles, for a moment or for
// ever; the run's outcome is returned all the same.
func TestAReadThatFailsHidesNothing(t *testing.T) {
	for _, times := range []int32{1, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			log := &unreadable{Journal: timeline.NewMemory()}
			r := runner.New(runner.WithModel(primary, script(fails("", overload))), runner.WithLog(log), runner.WithHook("h", advise(retryNow)))
			log.inbox.Store(times)
			began := time.Now()
			_, err := r.Run(t.Context(), "hi")
			if failed := wantError(t, err, failure.KindOverloaded); failed.Suggestion == nil {
				t.Error("the suggestion is hidden")
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it was said after %s", took)
			}
			log.inbox.Store(0)
		})
	}
}

// TestAReadThatFailsIsRepeated: whoever resumes, answers or begins a run has the same
// patience with reads as with writes.
func TestAReadThatFailsIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &unreadable{Journal: timeline.NewMemory()}
		r := runner.New(runner.WithModel(primary, script(fails("", overload), answers("ok"))), runner.WithLog(log), runner.WithHook("h", advise(retryNow)))
		start := func() *runner.Run {
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Session: "s"})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = run.Wait(t.Context())
			return run
		}
		id := start().ID()
		log.events.Store(2)
		again, err := r.Recover(t.Context(), id, runner.Answer{Action: recovery.ButtonRetry})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := again.Wait(t.Context()); err != nil || result.Text != "ok" {
			t.Errorf("%+v, %v", result, err)
		}
		log.events.Store(2)
		start()
	})
}

// TestALeaseThatCannotBeRenewedNow: an effect waits for its lease as a write waits for its
// store, and begins once it is known that the run is still its owner's.
func TestALeaseThatCannotBeRenewedNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &brief{unreadable: &unreadable{Journal: timeline.NewMemory()}}
		log.renew.Store(3)
		model := script(answers("ok"))
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log))
		if text, err := r.Run(t.Context(), "hi"); err != nil || text != "ok" || log.renewed.Load() < 5 {
			t.Errorf("%q, %v, after %d tries", text, err, log.renewed.Load())
		}
	})
}

// leftObserver is an Observer that counts the events of the runs that were not left after them.
type leftObserver struct {
	mu   sync.Mutex
	here map[string]int // events that happened and were not left
}

func (l *leftObserver) Happened(run *recovery.Run, _ recovery.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.here[run.ID]++
}

func (l *leftObserver) Left(run *recovery.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.here, run.ID)
}

// TestEveryRunIsLeft: whatever happens to a run here, its observer is told when this process is
// done with it, also if it is only superseded, expired, cancelled or found to be over.
func TestEveryRunIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, clock := &leftObserver{here: map[string]int{}}, &wall{}
		r := runner.New(runner.WithModel(primary, script(fails("", overload))), runner.WithHook("h", advise(retryNow)),
			runner.WithObserver(seen), runner.WithClock(clock.now))
		say := func(session string) string {
			run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Session: session})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = run.Wait(t.Context())
			return run.ID()
		}
		say("s") // and superseded
		last := say("s")
		if _, err := r.Recover(t.Context(), last, runner.Answer{Action: "nonsense"}); !errors.Is(err, recovery.ErrNoSuchAction) {
			t.Error(err)
		}
		if err := r.Cancel(t.Context(), last); err != nil {
			t.Error(err)
		}
		if _, err := r.Resume(t.Context(), last); err != nil {
			t.Error(err)
		}
		expired := say("")
		clock.jump(48 * time.Hour)
		if run, err := r.Resume(t.Context(), expired); err != nil {
			t.Error(err)
		} else {
			_, _ = run.Wait(t.Context())
		}
		synctest.Wait()
		for id, events := range seen.here {
			t.Errorf("run %s was never left, after %d events", id, events)
		}
	})
}
