package runner

import (
	"context"
	"encoding/json"
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
	storePause    = 50 * time.Millisecond   // between the first two tries of a write; it doubles
	storeRest     = 5 * time.Second         // the longest pause
	storePatience = time.Hour               // of a loop with its store, before it leaves the run as it is
	startPatience = 2 * time.Second         // of whoever starts or resumes a run
	storeTries    = 3                       // failed tries after which people are told
	storeSlow     = 2 * time.Second         // a write that takes longer is one that people are told of
	cancelGrace   = 1200 * time.Millisecond // for a write that does not end when the run is cancelled
)

// persist has the store write something, as often as it takes: do fails and is repeated
// until it succeeds, fails for a reason that does not pass, or the loop's patience is at an
// end. The loop does nothing else meanwhile, so no effect begins. It gives what the log is
// to be told afterwards, nil if it went as it should.
func (l *loop) persist(ctx context.Context, do func(context.Context) error) (*recovery.Paused, error) {
	w := &storeWait{loop: l, began: time.Now()}
	slow := time.AfterFunc(storeSlow, func() { w.tell("it takes long to answer") })
	defer slow.Stop()
	for pause := storePause; ; pause = min(2*pause, storeRest) {
		hung, err := w.try(ctx, do)
		if !hung {
			w.failed = err
		} else if w.failed != nil {
			err = w.failed // the end of the patience is not why
		}
		switch {
		case err == nil:
			return w.paused(), nil
		case ctx.Err() != nil, !hung && !mayPass(err), time.Since(w.began) >= l.patience:
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

// ErrUnsaved is, beside ErrCancelled, the error of a run that was cancelled and whose store
// does not write.
var ErrUnsaved = errors.New("its store does not write that down yet")

// storeWait is one persist at work.
type storeWait struct {
	loop   *loop
	began  time.Time
	tries  int
	failed error // what the store said last

	mu   sync.Mutex
	told string // why the run waits; "" = people were not told that it does
}

// try writes once. A write that does not end hangs: it is given up at the end of the loop's
// patience, and a moment after the run was cancelled.
func (w *storeWait) try(ctx context.Context, do func(context.Context) error) (hung bool, err error) {
	l := w.loop
	bounded, stop := context.WithDeadline(ctx, w.began.Add(l.patience))
	defer stop()
	if l.ctx != nil && !l.abandoned {
		defer context.AfterFunc(l.ctx, func() { time.AfterFunc(cancelGrace, stop) })()
	}
	err = do(bounded)
	return err != nil && bounded.Err() != nil && ctx.Err() == nil, err
}

// tell shows people that the run waits.
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

// paused is the wait that is over, if there was one.
func (w *storeWait) paused() *recovery.Paused {
	if !w.isTold() {
		return nil
	}
	return &recovery.Paused{Reason: w.reason(), For: max(1, failure.InMillis(time.Since(w.began)))}
}

// rest pauses, unless the run is over meanwhile.
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

// overNow reports whether the run was cancelled or let go of and its handle waits for that.
func (l *loop) overNow() bool { return l.ctx != nil && !l.abandoned && l.ctx.Err() != nil }

// abandon settles the handle of a cancelled run whose store does not write. The loop goes
// on trying to write it down as long as this process lives.
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

// mayPass reports whether a store that failed so may write later.
func mayPass(err error) bool {
	for _, final := range []error{timeline.ErrOwned, timeline.ErrStale, timeline.ErrConflict, timeline.ErrClosed, timeline.ErrNotFound, timeline.ErrSession, timeline.ErrDamaged} {
		if errors.Is(err, final) {
			return false
		}
	}
	_, unstorable := errors.AsType[*json.MarshalerError](err)
	return !unstorable
}

// storeReason is why a store does not write, in a few words.
func storeReason(err error) string {
	if e, ok := errors.AsType[*timeline.StoreError](err); ok {
		return e.Reason
	}
	return words.Clip(words.Shown(err.Error()), recovery.MaxNote)
}

// mayAct makes sure that an effect may begin now: that the run goes on and is this loop's.
// A process that stood still for longer than its lease asks the store first. It is called
// by the effect's own goroutine, right before the effect. Where the run is over it waits
// for the loop to know that and to stop the effect: what ends before has failed.
func (l *loop) mayAct(ctx context.Context) error {
	if l.ctx.Err() != nil {
		<-ctx.Done()
		return errStopped
	}
	if l.holds() {
		return nil
	}
	err := l.regain(ctx)
	if err == nil {
		return nil
	}
	if ctx.Err() == nil {
		l.post(func(context.Context) error { return err })
	}
	return errStopped
}

// regain keeps a lease that may be over, as often as it takes. Whoever waits for that stops
// it by ctx.
func (l *loop) regain(ctx context.Context) error {
	for pause := storePause; ; pause = min(2*pause, storeRest) {
		err := l.renew(ctx)
		if err == nil || ctx.Err() != nil || !mayPass(err) {
			return err
		}
		l.r.log.Notify(l.id, recovery.Line(nil, recovery.Paused{Reason: storeReason(err)}))
		l.r.logger.Warn("the lease was not renewed, and nothing begins before it is", "run", l.id, "pause", pause, "err", err)
		idle(ctx, pause)
	}
}

// idle pauses, unless ctx ends meanwhile.
func idle(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// insist asks the store for something as long as the patience of a start lasts, for whoever
// waits for it: what fails may pass.
func (r *Runner) insist(ctx context.Context, do func() error) error {
	for began, pause := time.Now(), storePause; ; pause *= 2 {
		err := do()
		if err == nil || ctx.Err() != nil || !mayPass(err) || time.Since(began)+pause > startPatience {
			return err
		}
		r.logger.Warn("the store did not answer, and is asked again", "pause", pause, "err", err)
		idle(ctx, pause)
	}
}

// holds reports whether the lease does, by the wall clock: others go by it, too.
func (l *loop) holds() bool { return time.Now().UnixNano() < l.until.Load() }

// renew keeps the lease for another leaseTTL.
func (l *loop) renew(ctx context.Context) error {
	lease, err := l.r.log.Renew(ctx, l.lease, l.r.leaseTTL)
	if err != nil {
		return fmt.Errorf("run %s: keep its lease: %w", l.id, err)
	}
	l.until.Store(lease.Expires.UnixNano())
	return nil
}

// keepLease renews the lease in good time. A store that does not write now may do so
// later, and the loop asks it before it acts.
func (l *loop) keepLease(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, storeSlow)
	defer cancel()
	err := l.renew(bounded)
	if err == nil || ctx.Err() != nil || !mayPass(err) {
		return err
	}
	l.r.logger.Warn("the lease was not renewed", "run", l.id, "err", err)
	return nil
}

// stillOwns makes sure, where writing took longer than the lease held, that nobody took
// the run meanwhile: what was written must not be acted on then.
func (l *loop) stillOwns(ctx context.Context) error {
	if l.holds() {
		return nil
	}
	_, err := l.persist(ctx, l.renew)
	return err
}
