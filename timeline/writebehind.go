package timeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

const (
	behindPause  = 50 * time.Millisecond // from the first waiting event until it is written, together with all that came after it
	behindRetry  = time.Second           // the longest pause between attempts to write to a store that fails
	behindWrite  = 10 * time.Second      // for one write
	behindWrites = 256                   // at the same time
	behindClose  = 5 * time.Second       // for everything that is left when the log closes
	behindGiveUp = 2 * time.Second       // before a run stops because its events cannot be written

	maxBehindEvents = 8192     // waiting to be written
	maxWaitingBytes = 16 << 20 // of waiting events, approximately
)

// WriteBehind is a Log that accepts the events of some runs immediately and makes them durable a
// moment later. It is for runs that nobody resumes, and whose owner must not wait for a disk in the
// middle of an answer. It writes their events in order, together with those of other runs;
// followers and readers see only what is durable. A process that dies loses what it accepted in its
// last 50 ms, and during the write before that.
//
// Some events must be durable before anything follows from them: decisions, suggestions, waits and
// answers to commands are written before Append returns, with all that came before. So are all
// events of other runs. All other methods first wait until the events of their run are written.
//
// It accepts no more than it can hold: beyond that Append waits. What cannot be written is tried
// again in the same form. Until that succeeds, Append fails for the run, and Begin for every new
// one, with the store's error. After 2 s the error of Append no longer counts as one that may pass,
// so that the run stops.
//
// It is for new runs with ids that nobody else has chosen.
type WriteBehind struct {
	Log
	takes func(recovery.Started) bool

	mu     sync.Mutex
	runs   map[string]*behind
	events int // waiting events
	bytes  int
	room   chan struct{} // closed when some of them were written
	failed error         // of the last write; nil = it succeeded
	pause  time.Duration // between writes that failed
	timer  *time.Timer   // until the next write; nil before the first
	due    bool          // the timer is running
	writes bool          // a write is under way
	urgent bool          // a caller waits for that write
}

var _ BulkLog = (*WriteBehind)(nil)

// behind is a run with events that are written behind.
type behind struct {
	lease Lease
	ttl   time.Duration
	last  uint64 // seq of the last event accepted

	written  uint64           // seq of the last durable event
	batch    []recovery.Event // the events of the next write; they stay the same until they are written
	queue    []recovery.Event // the events after them
	released bool             // its lease has to be released after the last write
	err      error            // of the last write; nil = it succeeded
	since    time.Time        // when the first of the failed writes failed
	tries    int
	over     bool          // err no longer counts as one that may pass
	tried    chan struct{} // closed after the next write
}

// NewWriteBehind makes a WriteBehind over log. It writes behind the runs whose Started event takes
// accepts.
func NewWriteBehind(log Log, takes func(recovery.Started) bool) *WriteBehind {
	return &WriteBehind{Log: log, takes: takes, runs: map[string]*behind{}, room: make(chan struct{}), pause: behindPause}
}

// Now is Clocked's: the time of the log that is written to.
func (w *WriteBehind) Now() time.Time { return ClockOf(w.Log)() }

// Check is Checker's: that of the log behind it.
func (w *WriteBehind) Check(ctx context.Context) error { return CheckOf(ctx, w.Log) }

// Begin is Log.Begin.
func (w *WriteBehind) Begin(
	ctx context.Context, run, owner string, ttl time.Duration, first func(Lease) []recovery.Event,
) (Lease, error) {
	l := Lease{Run: run, Owner: owner, Epoch: 1, Expires: time.Now().Add(ttl)}
	events := first(l)
	if known := w.find(run); known != nil || len(events) == 0 || !w.isTaken(events[0]) || waitsForIt(events) {
		if err := w.settle(ctx, run); err != nil {
			return Lease{}, err
		}
		return w.Log.Begin(ctx, run, owner, ttl, first)
	}
	if err := errors.Join(checkClaim(run, owner), checkAppend(l, 0, events)); err != nil {
		return Lease{}, err
	}
	if err := w.take(ctx, &behind{lease: l, ttl: ttl, tried: make(chan struct{})}, events); err != nil {
		return Lease{}, err
	}
	return l, nil
}

// Append is Log.Append.
func (w *WriteBehind) Append(ctx context.Context, l Lease, after uint64, events ...recovery.Event) error {
	r := w.find(l.Run)
	if r == nil {
		return w.Log.Append(ctx, l, after, events...)
	}
	if err := w.hopeless(r); err != nil {
		return err
	}
	if w.follows(r, l, after) && !waitsForIt(events) {
		if err := checkAppend(l, after, events); err != nil {
			return err
		}
		return w.take(ctx, r, events)
	}
	if err := w.settle(ctx, l.Run); err != nil {
		return err
	}
	if err := w.Log.Append(ctx, l, after, events...); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := after + uint64(len(events)); l.Epoch == r.lease.Epoch && at > r.last {
		r.last, r.written = at, at
	}
	return nil
}

// Release is Log.Release. It does not wait for the store.
func (w *WriteBehind) Release(ctx context.Context, l Lease) error {
	w.mu.Lock()
	r := w.runs[l.Run]
	if r == nil || r.lease.Epoch != l.Epoch {
		w.mu.Unlock()
		return w.Log.Release(ctx, l)
	}
	defer w.mu.Unlock()
	if r.released = true; r.over {
		delete(w.runs, l.Run)
		return nil
	}
	w.arm(behindPause)
	return nil
}

// Claim is Log.Claim. What the new owner writes is durable immediately.
func (w *WriteBehind) Claim(ctx context.Context, run, owner string, ttl time.Duration) (Lease, error) {
	if err := w.settle(ctx, run); err != nil {
		return Lease{}, err
	}
	l, err := w.Log.Claim(ctx, run, owner, ttl)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.runs, run)
	}
	return l, err
}

// ClaimDue is BulkLog.ClaimDue. No run of this process is among them that is still to be written.
func (w *WriteBehind) ClaimDue(ctx context.Context, owner string, ttl time.Duration, at time.Time, waiting bool, able recovery.Labels, limit int, but ...string) ([]Claimed, bool, error) {
	bulk, ok := w.Log.(BulkLog)
	if !ok {
		return nil, false, nil
	}
	claimed, can, err := bulk.ClaimDue(ctx, owner, ttl, at, waiting, able, limit, but...)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range claimed {
		delete(w.runs, c.Lease.Run)
	}
	return claimed, can, err
}

// Flush waits until everything is durable. If a write fails it tries again until ctx ends, and then
// returns the store's error.
func (w *WriteBehind) Flush(ctx context.Context) error {
	for {
		w.mu.Lock()
		var next string
		for run, r := range w.runs {
			if r.waits() {
				next = run
				break
			}
		}
		failed := w.failed
		w.mu.Unlock()
		if next == "" {
			return nil
		}
		if err := w.settle(ctx, next); err != nil && ctx.Err() != nil {
			return errors.Join(failed, err)
		}
	}
}

// Close is Log.Close, after everything is durable, or after 5 s.
func (w *WriteBehind) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), behindClose)
	defer cancel()
	return errors.Join(w.Flush(ctx), w.Log.Close())
}

// isTaken reports whether a run that begins with e is written behind.
func (w *WriteBehind) isTaken(e recovery.Event) bool {
	s, ok := e.Body.(recovery.Started)
	return ok && w.takes(s)
}

// waitsForIt reports whether one of events must be durable before anything follows from it: it
// decides about a failure, or belongs to a person's answer.
func waitsForIt(events []recovery.Event) bool {
	for _, e := range events {
		switch e.Body.(type) {
		case recovery.Decided, recovery.Suggested, recovery.Waiting, recovery.Accepted:
			return true
		}
		if e.Inbox > 0 {
			return true
		}
	}
	return false
}

// errUnwritten says that a run has waited long enough for its store.
var errUnwritten = errors.New("earlier events could not be written for too long")

// hopeless is the reason why a run must stop; nil if it need not.
func (w *WriteBehind) hopeless(r *behind) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.err == nil || time.Since(r.since) < behindGiveUp {
		return nil
	}
	return errors.Join(errUnwritten, r.err)
}

func (w *WriteBehind) find(run string) *behind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[run]
}

// follows reports whether an append by l after that event continues what was accepted.
func (w *WriteBehind) follows(r *behind, l Lease, after uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.Epoch == r.lease.Epoch && l.Owner == r.lease.Owner && after == r.last
}

// waits reports whether events are waiting to be written.
func (r *behind) waits() bool {
	return !r.over && (len(r.batch) > 0 || len(r.queue) > 0 || r.released)
}
