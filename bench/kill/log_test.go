package kill

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// mortal is a log that tells what it has acknowledged, and in which its process may die.
type mortal struct {
	timeline.Log
	trap *trap
	tale *tale
	slow bool // every lease is over as soon as it was given, as on a machine that is too slow for it
}

func (m *mortal) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
	m.before(events)
	err := m.Log.Append(ctx, l, after, events...)
	if err == nil {
		m.after(events)
	}
	return err
}

func (m *mortal) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	m.trap.at("before claim")
	m.before(first(timeline.Lease{Run: run, Owner: owner, Epoch: 1}))
	l, err := m.Log.Begin(ctx, run, owner, m.shorten(ttl), first)
	if err == nil {
		m.after(first(l))
		m.trap.at("after claim")
	}
	return l, err
}

// before dies before one of events is written, or while it is.
func (m *mortal) before(events []recovery.Event) {
	for _, e := range events {
		m.trap.at("before " + e.Type())
		m.trap.amid(e.Type())
	}
}

// after tells that events are written, or dies.
func (m *mortal) after(events []recovery.Event) {
	m.tale.events(wordAcked, events...)
	for _, e := range events {
		m.trap.at("after " + e.Type())
	}
}

func (m *mortal) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	m.trap.at("before claim")
	l, err := m.Log.Claim(ctx, run, owner, m.shorten(ttl))
	if err == nil {
		m.trap.at("after claim")
	}
	return l, err
}

func (m *mortal) Renew(ctx context.Context, l timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	m.trap.at("before renew")
	l, err := m.Log.Renew(ctx, l, m.shorten(ttl))
	if err == nil {
		m.trap.at("after renew")
	}
	return l, err
}

func (m *mortal) Keep(ctx context.Context, owner string, ttl time.Duration) (timeline.Kept, error) {
	m.trap.at("before keep")
	kept, err := m.Log.Keep(ctx, owner, m.shorten(ttl))
	if err == nil {
		m.trap.at("after keep")
	}
	return kept, err
}

func (m *mortal) Release(ctx context.Context, l timeline.Lease) error {
	m.trap.at("before release")
	err := m.Log.Release(ctx, l)
	if err == nil {
		m.trap.at("after release")
	}
	return err
}

func (m *mortal) Send(ctx context.Context, run string, c timeline.Command) (uint64, error) {
	m.trap.at("before send")
	n, err := m.Log.Send(ctx, run, c)
	if err == nil {
		m.tale.tell(wordSent, run, n, c.ID)
		m.trap.at("after send")
	}
	return n, err
}

func (m *mortal) SaveSnapshot(ctx context.Context, l timeline.Lease, seq uint64, data []byte) error {
	m.trap.at("before snapshot")
	m.trap.amid("snapshot")
	err := m.Log.SaveSnapshot(ctx, l, seq, data)
	if err == nil {
		m.trap.at("after snapshot")
	}
	return err
}

func (m *mortal) SaveTail(ctx context.Context, l timeline.Lease, t timeline.Tail) error {
	m.trap.at("before tail")
	m.trap.amid("tail")
	err := m.Log.SaveTail(ctx, l, t)
	if err == nil {
		m.trap.at("after tail")
	}
	return err
}

func (m *mortal) shorten(ttl time.Duration) time.Duration {
	if m.slow {
		return time.Millisecond
	}
	return ttl
}
