package timeline

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/mulligan-run/mulligan/recovery"
)

// reads shares what followers read of runs. A batch with a long text is in memory only once for all
// followers that are sending it, and a run is read for only one of them at a time: otherwise
// sixteen followers of a run with an answer of 60 MiB would hold sixteen copies.
type reads struct {
	source feedSource

	mu   sync.Mutex
	runs map[string]*readers
	long map[position]weak.Pointer[batch]
}

// readers are the followers that want to read a run.
type readers struct {
	turn chan struct{}
	n    int
}

// position is where a batch begins.
type position struct {
	run   string
	after uint64
}

// batch is some consecutive events. A follower keeps it until they are sent.
type batch struct{ events []recovery.Event }

// longBatch is the size, in bytes, from which a batch is shared.
const longBatch = 1 << 20

func newReads(source feedSource) *reads {
	return &reads{source: source, runs: map[string]*readers{}, long: map[position]weak.Pointer[batch]{}}
}

// after gives the events after seq, at most readBatch; last says that there were no more.
func (r *reads) after(ctx context.Context, run string, seq uint64) (b *batch, last bool, err error) {
	done, err := r.wait(ctx, run)
	if err != nil {
		return nil, false, err
	}
	defer done()
	at := position{run, seq}
	if b := r.find(at); b != nil {
		return b, false, nil
	}
	events, err := r.source.Read(ctx, run, seq, readBatch)
	if err != nil {
		return nil, false, err
	}
	b = &batch{events}
	if slices.ContainsFunc(events, func(e recovery.Event) bool { return sizeOf(Item{Event: &e}) >= longBatch }) {
		r.share(at, b)
	}
	return b, len(events) < readBatch, nil
}

// wait waits for its turn to read a run; done ends the turn.
func (r *reads) wait(ctx context.Context, run string) (done func(), err error) {
	r.mu.Lock()
	of := r.runs[run]
	if of == nil {
		of = &readers{turn: make(chan struct{}, 1)}
		r.runs[run] = of
	}
	of.n++
	r.mu.Unlock()
	leave := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if of.n--; of.n == 0 {
			delete(r.runs, run)
		}
	}
	select {
	case of.turn <- struct{}{}:
		return func() {
			<-of.turn
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

func (r *reads) find(at position) *batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.long[at].Value()
}

// share lets others find b as long as anybody keeps it.
func (r *reads) share(at position, b *batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.long[at] = weak.Make(b)
	runtime.AddCleanup(b, r.forget, at)
}

func (r *reads) forget(at position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.long[at].Value() == nil {
		delete(r.long, at)
	}
}

// drop forgets what was read of a run that was deleted.
func (r *reads) drop(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.long, func(at position, _ weak.Pointer[batch]) bool { return at.run == run })
}
