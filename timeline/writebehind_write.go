package timeline

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// take accepts events of r's owner; the first ones register the run.
func (w *WriteBehind) take(ctx context.Context, r *behind, events []recovery.Event) error {
	bytes := sizeOfAll(events)
	for {
		w.mu.Lock()
		known := w.runs[r.lease.Run] == r
		switch {
		case r.err != nil:
			defer w.mu.Unlock()
			return r.err
		case w.failed != nil && (!known || !w.fits(len(events), bytes)):
			defer w.mu.Unlock()
			return w.failed
		case w.fits(len(events), bytes):
			defer w.mu.Unlock()
			w.runs[r.lease.Run] = r
			w.events, w.bytes = w.events+len(events), w.bytes+bytes
			r.queue = append(r.queue, events...)
			r.last = events[len(events)-1].Seq
			w.arm(behindPause)
			return nil
		}
		room := w.room
		w.flushNow()
		w.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// fits reports whether that much more can be held. The caller holds w.mu.
func (w *WriteBehind) fits(events, bytes int) bool {
	return w.events == 0 || w.events+events <= maxBehindEvents && w.bytes+bytes <= maxWaitingBytes
}

func sizeOfAll(events []recovery.Event) (n int) {
	for i := range events {
		n += sizeOf(Item{Event: &events[i]})
	}
	return n
}

// settle waits until all events of a run are written, or until a write of them has failed.
func (w *WriteBehind) settle(ctx context.Context, run string) error {
	tries := -1
	for {
		w.mu.Lock()
		r := w.runs[run]
		switch {
		case r == nil || !r.waits():
			w.mu.Unlock()
			return nil
		case tries >= 0 && r.tries > tries && r.err != nil:
			defer w.mu.Unlock()
			return r.err
		case tries < 0:
			tries = r.tries
		}
		tried := r.tried
		w.flushNow()
		w.mu.Unlock()
		select {
		case <-tried:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// flushNow writes the waiting events now. The caller holds w.mu.
func (w *WriteBehind) flushNow() {
	if w.urgent = true; !w.writes && w.failed == nil {
		w.due = false
		w.arm(0)
	}
}

// arm schedules a write of the waiting events after a pause, unless one is scheduled already. The
// caller holds w.mu.
func (w *WriteBehind) arm(after time.Duration) {
	switch {
	case w.due || w.writes:
		return
	case w.timer == nil:
		w.timer = time.AfterFunc(after, w.write)
	default:
		w.timer.Reset(after)
	}
	w.due = true
}

// write writes the waiting events. Only one goroutine at a time does.
func (w *WriteBehind) write() {
	w.mu.Lock()
	if w.writes {
		w.mu.Unlock()
		return
	}
	w.due, w.writes, w.urgent = false, true, false
	var waiting []*behind
	for _, r := range w.runs {
		if r.waits() {
			waiting = append(waiting, r)
		}
	}
	w.mu.Unlock()
	w.writeAll(waiting)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = false
	for _, r := range w.runs {
		if r.waits() {
			w.arm(w.next())
			return
		}
	}
}

// next is the pause before the next write. The caller holds w.mu.
func (w *WriteBehind) next() time.Duration {
	switch {
	case w.failed != nil:
		w.pause = min(2*w.pause, behindRetry)
		return w.pause
	case w.urgent:
		return 0
	}
	return behindPause
}

// writeAll writes the events of all runs at the same time, so that they share a transaction.
func (w *WriteBehind) writeAll(waiting []*behind) {
	var all sync.WaitGroup
	for part := range slices.Chunk(waiting, behindWrites) {
		for _, r := range part[1:] {
			all.Go(func() { w.writeRun(r) })
		}
		w.writeRun(part[0])
		all.Wait()
	}
}

// writeRun writes the waiting events of r, and releases its lease after the last one.
func (w *WriteBehind) writeRun(r *behind) {
	ctx, cancel := context.WithTimeout(context.Background(), behindWrite)
	defer cancel()
	if batch, after := w.batch(r); len(batch) > 0 {
		w.wrote(r, batch, w.append(ctx, r, after, batch))
	}
	if w.isLeft(r) { // then nothing more comes
		w.gaveUp(r, w.Log.Release(ctx, r.lease))
	}
}

// batch gives the events of r to write now, and the seq before them.
func (w *WriteBehind) batch(r *behind) (events []recovery.Event, after uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(r.batch) == 0 {
		r.batch, r.queue = r.queue, nil
	}
	return r.batch, r.written
}

// isLeft reports whether r's owner has released it, and everything is written.
func (w *WriteBehind) isLeft(r *behind) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return r.released && !r.over && len(r.batch) == 0 && len(r.queue) == 0
}

// append writes the events of r after that seq.
func (w *WriteBehind) append(ctx context.Context, r *behind, after uint64, events []recovery.Event) error {
	if after > 0 {
		return w.Log.Append(ctx, r.lease, after, events...)
	}
	var late *StaleError
	_, err := w.Log.Begin(ctx, r.lease.Run, r.lease.Owner, r.ttl, func(l Lease) []recovery.Event {
		if l.Epoch != r.lease.Epoch {
			late = &StaleError{Run: l.Run, Epoch: r.lease.Epoch, Newest: l.Epoch - 1}
			return nil
		}
		return events
	})
	if late != nil {
		return late
	}
	return err
}

// wrote records the result of writing batch.
func (w *WriteBehind) wrote(r *behind, batch []recovery.Event, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recordResult(r, err)
	if err == nil {
		w.forget(batch)
		r.batch, r.written = nil, batch[len(batch)-1].Seq
	}
}

// gaveUp records the result of releasing r's lease.
func (w *WriteBehind) gaveUp(r *behind, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.recordResult(r, err); err == nil {
		delete(w.runs, r.lease.Run)
	}
}

// recordResult records how a write for r ended. Events that can never be written are dropped. The
// caller holds w.mu.
func (w *WriteBehind) recordResult(r *behind, err error) {
	if r.err == nil {
		r.since = time.Now()
	}
	r.err = err
	r.tries++
	close(r.tried)
	r.tried = make(chan struct{})
	switch {
	case err == nil:
		w.failed, w.pause = nil, behindPause
		return
	case MayPass(err):
		w.failed = err
		return
	}
	w.forget(r.batch)
	w.forget(r.queue)
	r.batch, r.queue, r.over = nil, nil, true
	if r.released {
		delete(w.runs, r.lease.Run)
	}
}

// forget counts events as no longer waiting. The caller holds w.mu.
func (w *WriteBehind) forget(events []recovery.Event) {
	if len(events) == 0 {
		return
	}
	w.events, w.bytes = w.events-len(events), w.bytes-sizeOfAll(events)
	close(w.room)
	w.room = make(chan struct{})
}
