package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	storePause    = 50 * time.Millisecond   // between the first two attempts to write; it doubles
	storeRest     = 5 * time.Second         // the longest pause
	storePatience = time.Hour               // how long a loop retries its store before it leaves the run as it is
	startPatience = 2 * time.Second         // for a caller that starts or resumes a run
	storeTries    = 3                       // failed attempts after which people are told
	storeLong     = 100 * time.Millisecond  // a write that takes longer is watched
	storeSlow     = 2 * time.Second         // people are told of a longer write
	cancelGrace   = 1200 * time.Millisecond // for a write to end when the run is cancelled
)

// persist repeats do, which writes to the store, until it succeeds, fails for a reason that does
// not pass, or the loop's patience is over. The loop does nothing else until then, so no effect
// begins. It returns the Paused event that the log should get afterwards; nil if the write did not
// have to wait.
func (l *loop) persist(ctx context.Context, do func(context.Context) error) (*recovery.Paused, error) {
	w := &storeWait{loop: l, began: time.Now()}
	for pause := storePause; ; pause = min(2*pause, storeRest) {
		hung, err := w.try(ctx, do)
		if !hung {
			w.failed = err
		} else if w.failed != nil {
			err = w.failed // the end of the patience is not the reason
		}
		switch {
		case err == nil:
			return w.paused(), nil
		case ctx.Err() != nil, !hung && !timeline.MayPass(err), time.Since(w.began) >= l.patience:
			return nil, err
		}
		if w.tries++; w.tries >= storeTries || hung {
			w.tell(storeReason(err))
		}
		if over := l.overNow(); over && w.isTold() {
			if errors.Is(context.Cause(l.ctx), ErrLetGo) {
				return nil, errors.Join(ErrLetGo, err)
			}
			l.abandon(w.reason())
		}
		l.r.logger.Warn("the store did not write, and is tried again", "run", l.id, "pause", pause, "err", err)
		w.rest(ctx, pause)
	}
}

// ErrUnsaved is, together with ErrCancelled, the error of a run that was cancelled while its store
// did not write.
var ErrUnsaved = errors.New("its store has not recorded that yet")

// storeWait is the state of one persist.
type storeWait struct {
	loop   *loop
	began  time.Time
	tries  int
	failed error // the store's last error

	mu   sync.Mutex
	told string // why the run waits; "" = people were not told
}

// try writes once. A write that hangs is given up at the end of the loop's patience, or a moment
// after the run was cancelled.
func (w *storeWait) try(ctx context.Context, do func(context.Context) error) (hung bool, err error) {
	l, once := w.loop, writing{storeWait: w, patience: w.began.Add(w.loop.patience)}
	if l.ctx != nil && !l.abandoned {
		once.over = l.ctx.Done()
	}
	once.ctx, once.stop = context.WithCancelCause(ctx)
	defer once.stop(nil)
	l.r.slow.begin(&once)
	err = do(once.ctx)
	l.r.slow.end(&once)
	if hung = err != nil && once.ctx.Err() != nil && ctx.Err() == nil; hung {
		err = context.Cause(once.ctx)
	}
	return hung, err
}

// tell tells people that the run waits.
func (w *storeWait) tell(reason string) {
	w.mu.Lock()
	w.told = reason
	w.mu.Unlock()
	w.loop.r.log.Notify(w.loop.id, recovery.Line(nil, recovery.Paused{Reason: reason}))
}

func (w *storeWait) reason() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told
}

func (w *storeWait) isTold() bool { return w.reason() != "" }

// paused is the wait that is over; nil if there was none.
func (w *storeWait) paused() *recovery.Paused {
	if !w.isTold() {
		return nil
	}
	return &recovery.Paused{Reason: w.reason(), For: max(1, failure.InMillis(time.Since(w.began)))}
}

// rest pauses, unless the run ends during the pause.
func (w *storeWait) rest(ctx context.Context, pause time.Duration) {
	var over <-chan struct{}
	if l := w.loop; l.ctx != nil && l.ctx.Err() == nil {
		over = l.ctx.Done()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-over:
	case <-ctx.Done():
	}
}

// overNow reports whether the run was cancelled or released, and its handle waits for that.
func (l *loop) overNow() bool { return l.ctx != nil && !l.abandoned && l.ctx.Err() != nil }

// abandon settles the handle of a cancelled run whose store does not write. The loop keeps trying
// to write as long as this process lives.
func (l *loop) abandon(reason string) {
	for key, j := range l.air {
		l.stop(key, j)
	}
	state := l.run.Clone()
	result, _ := outcome(state)
	result.Status = recovery.StatusCancelled
	l.abandoned = true
	l.handle.settle(result, fmt.Errorf("%w; %w (%s): if this process ends before it does, the run can be resumed, and cancelled again",
		ErrCancelled, ErrUnsaved, reason))
}

// storeReason says in a few words why a store does not write.
func storeReason(err error) string {
	if e, ok := errors.AsType[*timeline.StoreError](err); ok {
		return e.Reason
	}
	return words.Clip(words.Shown(err.Error()), recovery.MaxNote)
}

// idle pauses, unless ctx ends during the pause.
func idle(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// insist repeats do, a request to the store that a caller waits for, as long as startPatience
// allows: its failure may pass.
func (r *Runner) insist(ctx context.Context, do func() error) error {
	for began, pause := time.Now(), storePause; ; pause *= 2 {
		err := do()
		if err == nil || ctx.Err() != nil || !timeline.MayPass(err) || time.Since(began)+pause > startPatience {
			return err
		}
		r.logger.Warn("the store did not answer, and is asked again", "pause", pause, "err", err)
		idle(ctx, pause)
	}
}
