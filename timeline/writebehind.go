package timeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

const (
	behindPause  = 50 * time.Millisecond // from the first event that waits to its being written, with all that came since
	behindRetry  = time.Second           // between two tries of a store that does not write, at the most
	behindWrite  = 10 * time.Second      // that one write may take
	behindWrites = 256                   // at a time
	behindClose  = 5 * time.Second       // for what is left when the log closes
	behindHope   = 2 * time.Second       // of a run whose events cannot be written, before it stops

	maxBehindEvents = 8192     // that wait to be written
	maxWaitingBytes = 16 << 20 // that they have together, about
)

// WriteBehind is a Log that takes down what happens in some runs at once, and has it durable a
// moment later: for runs that nobody resumes, and whose owner is not to wait for a disk between
// two words. It writes their events in order, together with those of other runs; who follows or
// reads a run sees what is durable, and nothing else. A process that dies loses what came in the
// last 50 ms, and while that was being written.
//
// What must be durable before it acts is: decisions, suggestions, waits, and answers to commands
// are written before Append returns, with all that came before. So is everything of any other
// run. All other methods wait for what their run has not written yet.
//
// It takes down no more than it can hold: then Append waits. What cannot be written is tried
// again, in the same form, and until it is there Append fails for its run, and Begin for every new
// one, with what the store said. After 2 s of that the run is not to go on: what Append fails with
// does not pass then.
//
// It is for new runs under ids that nobody else has chosen.
type WriteBehind struct {
	Log
	takes func(recovery.Started) bool

	mu     sync.Mutex
	runs   map[string]*behind
	events int // that wait
	bytes  int
	room   chan struct{} // closed once some of them wait no more
	failed error         // of the last write; nil = it succeeded
	pause  time.Duration // after writes that failed
	timer  *time.Timer   // until what waits is written; nil = it never did
	due    bool          // the timer runs
	writes bool          // what waits is being written
	urgent bool          // somebody waits for that
}

// behind is a run that is written behind.
type behind struct {
	lease Lease
	ttl   time.Duration
	last  uint64 // of the events that were taken down

	written  uint64           // of those that are durable
	batch    []recovery.Event // that is written next: it stays the same until it is
	queue    []recovery.Event // what follows it
	released bool             // its lease is to be given up after that
	err      error            // why the last try failed; nil = it did not
	since    time.Time        // when the first of the tries that failed did
	tries    int
	over     bool          // err does not pass
	tried    chan struct{} // closed after the next try
}

// NewWriteBehind makes a WriteBehind over log, for the runs that begin with a Started that takes
// says yes to.
func NewWriteBehind(log Log, takes func(recovery.Started) bool) *WriteBehind {
	return &WriteBehind{Log: log, takes: takes, runs: map[string]*behind{}, room: make(chan struct{}), pause: behindPause}
}

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

// Release is Log.Release. Nobody waits for it.
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

// Claim is Log.Claim. What its owner writes from then on is durable at once.
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

// Flush waits until all is durable. Where that cannot be, it tries until ctx ends, and the error
// is the store's.
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

// Close is Log.Close, once all is durable, or cannot be within 5 s.
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
// says what is done about a failure, or somebody answers it, or is answered by it.
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
var errUnwritten = errors.New("what came before could not be written for too long")

// hopeless is why a run is not to go on, if it is not.
func (w *WriteBehind) hopeless(r *behind) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.err == nil || time.Since(r.since) < behindHope {
		return nil
	}
	return errors.Join(errUnwritten, r.err)
}

func (w *WriteBehind) find(run string) *behind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs[run]
}

// follows reports whether what is appended by l after that event is what comes next.
func (w *WriteBehind) follows(r *behind, l Lease, after uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.Epoch == r.lease.Epoch && l.Owner == r.lease.Owner && after == r.last
}

// waits reports whether there is something to write.
func (r *behind) waits() bool {
	return !r.over && (len(r.batch) > 0 || len(r.queue) > 0 || r.released)
}
