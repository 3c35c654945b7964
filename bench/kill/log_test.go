package kill

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// killableLog is a log that tells the parent what it acknowledged, and in which the process may
// die.
type killableLog struct {
	timeline.Log
	killPoint *killPoint
	pipe      *pipe
	slow      bool // every lease expires at once, as on a machine that is too slow to renew it
}

func (m *killableLog) Append(ctx context.Context, l timeline.Lease, after uint64, events ...recovery.Event) error {
	m.before(events)
	err := m.Log.Append(ctx, l, after, events...)
	if err == nil {
		m.after(events)
	}
	return err
}

func (m *killableLog) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(timeline.Lease) []recovery.Event,
) (timeline.Lease, error) {
	m.killPoint.at("before claim")
	m.before(first(timeline.Lease{Run: run, Owner: owner, Epoch: 1}))
	l, err := m.Log.Begin(ctx, run, owner, m.shorten(ttl), first)
	if err == nil {
		m.after(first(l))
		m.killPoint.at("after claim")
	}
	return l, err
}

// before dies before one of the events is written, or while it is.
func (m *killableLog) before(events []recovery.Event) {
	for _, e := range events {
		m.killPoint.at("before " + e.Type())
		m.killPoint.amid(e.Type())
	}
}

// after tells the parent that the events are written, or dies.
func (m *killableLog) after(events []recovery.Event) {
	m.pipe.events(wordAcked, events...)
	for _, e := range events {
		m.killPoint.at("after " + e.Type())
	}
}

func (m *killableLog) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	m.killPoint.at("before claim")
	l, err := m.Log.Claim(ctx, run, owner, m.shorten(ttl))
	if err == nil {
		m.killPoint.at("after claim")
	}
	return l, err
}

func (m *killableLog) Renew(ctx context.Context, l timeline.Lease, ttl time.Duration) (timeline.Lease, error) {
	m.killPoint.at("before renew")
	l, err := m.Log.Renew(ctx, l, m.shorten(ttl))
	if err == nil {
		m.killPoint.at("after renew")
	}
	return l, err
}

func (m *killableLog) Keep(ctx context.Context, owner string, ttl time.Duration) (timeline.Kept, error) {
	m.killPoint.at("before keep")
	kept, err := m.Log.Keep(ctx, owner, m.shorten(ttl))
	if err == nil {
		m.killPoint.at("after keep")
	}
	return kept, err
}

func (m *killableLog) Release(ctx context.Context, l timeline.Lease) error {
	m.killPoint.at("before release")
	err := m.Log.Release(ctx, l)
	if err == nil {
		m.killPoint.at("after release")
	}
	return err
}

func (m *killableLog) Send(ctx context.Context, run string, c timeline.Command) (uint64, error) {
	m.killPoint.at("before send")
	n, err := m.Log.Send(ctx, run, c)
	if err == nil {
		m.pipe.tell(wordSent, run, n, c.ID)
		m.killPoint.at("after send")
	}
	return n, err
}

func (m *killableLog) SaveSnapshot(ctx context.Context, l timeline.Lease, seq uint64, data []byte) error {
	m.killPoint.at("before snapshot")
	m.killPoint.amid("snapshot")
	err := m.Log.SaveSnapshot(ctx, l, seq, data)
	if err == nil {
		m.killPoint.at("after snapshot")
	}
	return err
}

func (m *killableLog) SaveTail(ctx context.Context, l timeline.Lease, t timeline.Tail) error {
	m.killPoint.at("before tail")
	m.killPoint.amid("tail")
	err := m.Log.SaveTail(ctx, l, t)
	if err == nil {
		m.killPoint.at("after tail")
	}
	return err
}

func (m *killableLog) shorten(ttl time.Duration) time.Duration {
	if m.slow {
		return time.Millisecond
	}
	return ttl
}
