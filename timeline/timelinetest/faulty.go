package timelinetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Fault is what happens to one write of a Faulty log.
type Fault struct {
	Err   error         // the error: syscall.ENOSPC, syscall.EIO, …; nil = none
	After bool          // it is durable, but fails nevertheless
	Pause time.Duration // how long it takes
	Hang  bool          // it does nothing until its context ends
}

// Faulty is a Log with writes that fail like those of a disk.
type Faulty struct {
	timeline.Log

	mu   sync.Mutex
	next func(n int) Fault
	n    int
}

// NewFaulty makes a Faulty of log. The n-th append, from 1, gets the fault that next gives for n.
// Other writes do not count, and get the fault of the next append.
func NewFaulty(log timeline.Log, next func(n int) Fault) *Faulty {
	return &Faulty{Log: log, next: next}
}

// Break gives every write from now on the fault f; the zero Fault repairs the log.
func (l *Faulty) Break(f Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = func(int) Fault { return f }
}

// Appends is the number of appends so far.
func (l *Faulty) Appends() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *Faulty) draw(appends int) Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += appends
	return l.next(l.n + 1 - appends)
}

// Append is the log's Append, with the current fault.
func (l *Faulty) Append(ctx context.Context, lease timeline.Lease, after uint64, events ...recovery.Event) error {
	return meet(ctx, l.draw(1), func() error { return l.Log.Append(ctx, lease, after, events...) })
}

// Begin is the log's Begin, with the current fault; it counts as an append.
func (l *Faulty) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (lease timeline.Lease, err error) {
	err = meet(ctx, l.draw(1), func() error {
		lease, err = l.Log.Begin(ctx, run, owner, ttl, first)
		return err
	})
	return lease, err
}

// Claim is the log's Claim, with the current fault.
func (l *Faulty) Claim(ctx context.Context, run, owner string, ttl time.Duration) (lease timeline.Lease, err error) {
	err = meet(ctx, l.draw(0), func() error {
		lease, err = l.Log.Claim(ctx, run, owner, ttl)
		return err
	})
	return lease, err
}

// Renew is the log's Renew, with the current fault.
func (l *Faulty) Renew(ctx context.Context, old timeline.Lease, ttl time.Duration) (lease timeline.Lease, err error) {
	err = meet(ctx, l.draw(0), func() error {
		lease, err = l.Log.Renew(ctx, old, ttl)
		return err
	})
	return lease, err
}

// Keep is the log's Keep, with the current fault.
func (l *Faulty) Keep(ctx context.Context, owner string, ttl time.Duration) (kept timeline.Kept, err error) {
	err = meet(ctx, l.draw(0), func() error {
		kept, err = l.Log.Keep(ctx, owner, ttl)
		return err
	})
	return kept, err
}

// Release is the log's Release, with the current fault.
func (l *Faulty) Release(ctx context.Context, lease timeline.Lease) error {
	return meet(ctx, l.draw(0), func() error { return l.Log.Release(ctx, lease) })
}

// SaveTail is the log's SaveTail, with the current fault.
func (l *Faulty) SaveTail(ctx context.Context, lease timeline.Lease, t timeline.Tail) error {
	return meet(ctx, l.draw(0), func() error { return l.Log.SaveTail(ctx, lease, t) })
}

// Send is the log's Send, with the current fault.
func (l *Faulty) Send(ctx context.Context, run string, c timeline.Command) (n uint64, err error) {
	err = meet(ctx, l.draw(0), func() error {
		n, err = l.Log.Send(ctx, run, c)
		return err
	})
	return n, err
}

// meet runs write with a fault.
func meet(ctx context.Context, f Fault, write func() error) error {
	if f.Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.Pause > 0 {
		time.Sleep(f.Pause)
	}
	if f.Err != nil && !f.After {
		return f.Err
	}
	return errors.Join(write(), f.Err)
}
