package timeline

import (
	"context"
	"iter"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// The other methods wait until the waiting events of their run are written, so that their results
// include them.

// Renew is Log.Renew.
func (w *WriteBehind) Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	if err := w.settle(ctx, l.Run); err != nil {
		return Lease{}, err
	}
	return w.Log.Renew(ctx, l, ttl)
}

// Read is Log.Read.
func (w *WriteBehind) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	if err := w.settle(ctx, run); err != nil {
		return nil, err
	}
	return w.Log.Read(ctx, run, after, limit)
}

// Follow is Log.Follow.
func (w *WriteBehind) Follow(ctx context.Context, run string, after uint64) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		if err := w.settle(ctx, run); err != nil {
			if ctx.Err() == nil {
				yield(Item{}, err)
			}
			return
		}
		w.Log.Follow(ctx, run, after)(yield)
	}
}

// SaveTail is Log.SaveTail.
func (w *WriteBehind) SaveTail(ctx context.Context, l Lease, t Tail) error {
	if err := w.settle(ctx, l.Run); err != nil {
		return err
	}
	return w.Log.SaveTail(ctx, l, t)
}

// LoadTail is Log.LoadTail.
func (w *WriteBehind) LoadTail(ctx context.Context, run string) (Tail, error) {
	if err := w.settle(ctx, run); err != nil {
		return Tail{}, err
	}
	return w.Log.LoadTail(ctx, run)
}

// Send is Log.Send.
func (w *WriteBehind) Send(ctx context.Context, run string, c Command) (uint64, error) {
	if err := w.settle(ctx, run); err != nil {
		return 0, err
	}
	return w.Log.Send(ctx, run, c)
}

// Inbox is Log.Inbox.
func (w *WriteBehind) Inbox(ctx context.Context, run string, after uint64, limit int) ([]Command, error) {
	if err := w.settle(ctx, run); err != nil {
		return nil, err
	}
	return w.Log.Inbox(ctx, run, after, limit)
}

// Commands is Log.Commands.
func (w *WriteBehind) Commands(ctx context.Context, run string, after uint64) iter.Seq2[Command, error] {
	return func(yield func(Command, error) bool) {
		if err := w.settle(ctx, run); err != nil {
			if ctx.Err() == nil {
				yield(Command{}, err)
			}
			return
		}
		w.Log.Commands(ctx, run, after)(yield)
	}
}

// SaveSnapshot is Log.SaveSnapshot.
func (w *WriteBehind) SaveSnapshot(ctx context.Context, l Lease, seq uint64, data []byte) error {
	if err := w.settle(ctx, l.Run); err != nil {
		return err
	}
	return w.Log.SaveSnapshot(ctx, l, seq, data)
}

// LoadSnapshot is Log.LoadSnapshot.
func (w *WriteBehind) LoadSnapshot(ctx context.Context, run string) (seq uint64, data []byte, err error) {
	if err := w.settle(ctx, run); err != nil {
		return 0, nil, err
	}
	return w.Log.LoadSnapshot(ctx, run)
}

// Delete is Log.Delete.
func (w *WriteBehind) Delete(ctx context.Context, runs ...string) error {
	for _, run := range runs {
		if err := w.settle(ctx, run); err != nil {
			return err
		}
	}
	return w.Log.Delete(ctx, runs...)
}
