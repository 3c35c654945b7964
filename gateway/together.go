package gateway

import (
	"context"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
)

// together folds each run once for all who ask at a time: a fold holds all that a run has said,
// several times over while it goes on. Nobody gets one that began before they asked, because
// that may lack what they did just before.
type together struct {
	of     Runs
	places chan struct{} // for folds at a time

	mu   sync.Mutex
	runs map[string]*folds
}

// maxFolds is how many runs are folded at a time.
const maxFolds = 8

// folds are those of one run: the one that goes on, and the one that follows.
type folds struct{ now, next *fold }

// fold is one, and how many wait for it.
type fold struct {
	done   chan struct{}
	run    *recovery.Run
	err    error
	asked  int
	cancel context.CancelFunc
}

func newTogether(of Runs) *together {
	return &together{of: of, places: make(chan struct{}, maxFolds), runs: map[string]*folds{}}
}

// get gives a run as it is now. It belongs to all who asked: nobody changes it.
func (t *together) get(ctx context.Context, run string) (*recovery.Run, error) {
	f := t.join(ctx, run)
	select {
	case <-f.done:
		return f.run, f.err
	case <-ctx.Done():
		t.leave(f)
		return nil, context.Cause(ctx)
	}
}

// join waits for the fold that begins next; where none goes on, it begins it.
func (t *together) join(ctx context.Context, run string) *fold {
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

// begin begins the next fold of a run; the one after that begins when it is over.
func (t *together) begin(ctx context.Context, run string, of *folds) {
	of.now, of.next = of.next, nil
	f := of.now
	folding, cancel := context.WithCancel(ctx)
	f.cancel = cancel
	go func() {
		defer cancel()
		t.places <- struct{}{}
		f.run, f.err = t.of.Inspect(folding, run)
		<-t.places
		close(f.done)
		t.mu.Lock()
		defer t.mu.Unlock()
		of.now = nil
		if of.next != nil && of.next.asked > 0 { // who asked may have left
			t.begin(ctx, run, of)
			return
		}
		delete(t.runs, run)
	}()
}

// leave ends a fold that nobody waits for any more.
func (t *together) leave(f *fold) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.asked--; f.asked == 0 && f.cancel != nil {
		f.cancel()
	}
}
