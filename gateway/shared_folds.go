package gateway

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// sharedFolds folds each run once for all who ask at the same time, because a fold holds
// everything that a run has said, and several times while it is being built. Nobody gets a fold
// that began before they asked, because it may lack what they just did.
type sharedFolds struct {
	of     Runs
	log    timeline.Log
	places chan struct{} // one for each concurrent fold

	mu   sync.Mutex
	runs map[string]*folds
	kept map[string]weak.Pointer[recovery.Run] // ended runs, as long as somebody uses them
}

// maxFolds is how many runs are folded at a time.
const maxFolds = 8

// folds are those of one run: the one in progress and the next one.
type folds struct{ now, next *fold }

// fold is one fold, and how many wait for it.
type fold struct {
	done   chan struct{}
	run    *recovery.Run
	err    error
	asked  int
	cancel context.CancelFunc
}

func newSharedFolds(of Runs, log timeline.Log) *sharedFolds {
	return &sharedFolds{
		of: of, log: log, places: make(chan struct{}, maxFolds), runs: map[string]*folds{}, kept: map[string]weak.Pointer[recovery.Run]{},
	}
}

// get returns a run's current state. It is shared by all who asked, so nobody may
// change it.
func (t *sharedFolds) get(ctx context.Context, run string) (*recovery.Run, error) {
	f := t.join(ctx, run)
	select {
	case <-f.done:
		return f.run, f.err
	case <-ctx.Done():
		t.leave(f)
		return nil, context.Cause(ctx)
	}
}

// join waits for the next fold, and begins it if none is in progress.
func (t *sharedFolds) join(ctx context.Context, run string) *fold {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.runs[run]
	if of == nil {
		of = &folds{}
		t.runs[run] = of
	}
	if of.next == nil {
		of.next = &fold{done: make(chan struct{})}
	}
	f := of.next
	f.asked++
	if of.now == nil {
		t.begin(context.WithoutCancel(ctx), run, of)
	}
	return f
}

// begin begins the next fold of a run; the one after it begins when this one is done.
func (t *sharedFolds) begin(ctx context.Context, run string, of *folds) {
	of.now, of.next = of.next, nil
	f := of.now
	folding, cancel := context.WithCancel(ctx)
	f.cancel = cancel
	go func() {
		defer cancel()
		t.places <- struct{}{}
		f.run, f.err = t.fold(folding, run)
		<-t.places
		close(f.done)
		t.mu.Lock()
		defer t.mu.Unlock()
		of.now = nil
		if of.next != nil && of.next.asked > 0 { // those who asked may be gone
			t.begin(ctx, run, of)
			return
		}
		delete(t.runs, run)
	}()
}

// fold returns a run's current state. It reuses the state of an ended run if somebody still has
// it and nothing was added since.
func (t *sharedFolds) fold(ctx context.Context, id string) (*recovery.Run, error) {
	t.mu.Lock()
	had := t.kept[id].Value()
	t.mu.Unlock()
	if had != nil {
		if since, err := t.log.Read(ctx, id, had.Seq, 1); err == nil && len(since) == 0 {
			return had, nil
		}
	}
	run, err := t.of.Inspect(ctx, id)
	if err == nil && run.End != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.kept[id] = weak.Make(run)
		runtime.AddCleanup(run, t.forget, id)
	}
	return run, err
}

func (t *sharedFolds) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept[id].Value() == nil {
		delete(t.kept, id)
	}
}

// leave ends a fold that nobody waits for.
func (t *sharedFolds) leave(f *fold) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.asked--; f.asked == 0 && f.cancel != nil {
		f.cancel()
	}
}
