package runner

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

func (r *Runner) newLoop(run *recovery.Run, id string, lease timeline.Lease) *loop {
	l := &loop{
		r: r, id: id, run: run, call: r.asks(id), offered: r.tools(), patience: startPatience,
		mailbox: make(chan message, mailboxSize), air: map[string]*job{}, clock: newClock(later(r.now(), run.Last), r.slept),
	}
	l.hold(lease)
	return l
}

func (l *loop) claimed(by timeline.Lease) recovery.Claimed {
	return recovery.Claimed{Owner: by.Owner, Epoch: by.Epoch, Holds: l.call != nil}
}

// goOn writes the events that continue a claimed run, and launches its loop.
func (l *loop) goOn(ctx context.Context, bodies ...recovery.Body) (*Run, error) {
	return l.launchAfter(ctx, l.write(ctx, append([]recovery.Body{l.claimed(l.lease)}, bodies...)...))
}

// launchAfter launches the loop, or releases the run if err says that its first events could not be
// written.
func (l *loop) launchAfter(ctx context.Context, err error) (*Run, error) {
	if err != nil {
		l.leave()
		return nil, err
	}
	if l.handsOver(l.run) {
		return l.handOver(ctx), nil
	}
	l.run.Carry(l.before)
	return l.launch(ctx), nil
}

// handsOver reports whether another process should drive the run, which was folded as run.
func (l *loop) handsOver(run *recovery.Run) bool {
	return !l.here && l.call == nil && (l.r.handsOver || !l.r.machine.Has(run.Needs))
}

// handOver releases a run before anything in it has begun.
func (l *loop) handOver(ctx context.Context) *Run {
	l.leave()
	run := &Run{id: l.id, runner: l.r, ctx: ctx, cancel: func(error) {}, done: make(chan struct{})}
	result, _ := outcome(l.run)
	run.settle(result, l.r.leftFor(l.id, l.run.Needs))
	return run
}

func (l *loop) launch(ctx context.Context) *Run {
	ctx, cancel := l.r.lifetime(ctx)
	run := &Run{id: l.id, runner: l.r, ctx: ctx, cancel: cancel, done: make(chan struct{})}
	l.r.driven.Store(l.id, run)
	l.unlock()
	work, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
	l.work, l.ctx, l.handle = work, ctx, run
	l.r.busy.begin()
	over := func() {
		stopWork(errStopped)
		cancel(nil)
		l.r.busy.done()
	}
	drive := func() { l.driveAndSettle(ctx, over) }
	switch model, first := l.callFirst(); {
	case first == nil:
		go drive()
	case l.awaited && l.r.interruptible(model):
		run.first = func() { callAndDrive(ctx, first, drive) }
	default:
		go callAndDrive(ctx, first, drive)
	}
	return run
}

// interruptible reports whether whoever waits for an answer of the model may make the call.
func (r *Runner) interruptible(model string) bool {
	m, err := r.models.Model(model)
	_, ok := m.(llm.Interruptible)
	return ok && err == nil
}

// callAndDrive makes a run's first call and drives the run: on the goroutine of the call if it is
// over within loopAfter, otherwise on one of its own from then on, or as soon as ctx ends. A loop
// beside the call would only start timers before that, on a processor that the answer needs.
func callAndDrive(ctx context.Context, call, drive func()) {
	var driven atomic.Bool
	once := func() {
		if !driven.Swap(true) {
			drive()
		}
	}
	late := time.AfterFunc(loopAfter, once)
	gone := context.AfterFunc(ctx, once)
	call()
	late.Stop()
	gone()
	once()
}

// driveAndSettle drives the run as long as there is something to do here, settles its handle and
// releases it. Then over is called: later than driveAndSettle returns, if tools go on.
func (l *loop) driveAndSettle(ctx context.Context, over func()) {
	err := l.driveToEnd(ctx)
	for err == nil && l.comeBack() {
		err = l.driveToEnd(ctx)
	}
	l.handle.leaves.Store(true)
	l.giveBack()
	l.saveLast(l.work)
	l.errands.done(tellGrace)
	ahead := l.toolsGoOn() || l.run.End != nil && l.call != nil // a caller does not wait for the release of the lease
	if !ahead {
		l.leave()
	}
	if !l.abandoned {
		result, end := outcome(l.sayingTail())
		if err != nil {
			end = err
		}
		if l.toolsGoOn() {
			l.run = l.run.Clone() // the result has the original
		}
		l.handle.settle(result, end)
		l.abandoned = true // a late note that cannot be written must not settle the handle again
	}
	if l.toolsGoOn() {
		go func() { // whoever waits for the run waits no longer
			l.stopAll(toolGrace, func() bool { return l.tools == 0 })
			l.leave()
			over()
		}()
		return
	}
	if ahead {
		l.leave()
	}
	over()
}

// toolsGoOn reports whether tools of the run outlive it. It is theirs until they end.
func (l *loop) toolsGoOn() bool { return l.run.End != nil && l.tools > 0 }

// lifetime is the context of a run that is started or resumed with ctx.
func (r *Runner) lifetime(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if r.detached == nil || ctx.Value(kept{}) != nil {
		return context.WithCancelCause(ctx)
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	forget := context.AfterFunc(r.detached, func() { cancel(context.Cause(r.detached)) })
	return ctx, func(cause error) {
		forget()
		cancel(cause)
	}
}

// driveToEnd drives the run, and then stops what is still in the air.
func (l *loop) driveToEnd(ctx context.Context) error {
	l.patience = storePatience
	err := l.drive(ctx)
	l.patience = startPatience
	l.stopAll(stopGrace, func() bool { return len(l.air) == 0 })
	l.engaged.end()
	return err
}

// leave releases the run: any process may claim it now.
func (l *loop) leave() {
	if l.run.End != nil || l.run.Seq == 0 { // nothing is left to do, or it never began
		l.r.calls.Delete(l.id)
	}
	l.observeLeft()
	l.release()
	if l.handle != nil {
		l.r.driven.CompareAndDelete(l.id, l.handle)
	}
}

// settled is the handle of a run that needs no driving.
func (l *loop) settled(ctx context.Context) *Run {
	l.release()
	run := &Run{id: l.id, runner: l.r, ctx: ctx, cancel: func(error) {}, done: make(chan struct{})}
	run.settle(outcome(l.run))
	return run
}

// comeBack releases the run and looks into its inbox once more: a command may have been sent there
// because the run still had an owner. It reports whether there is one, and whether the run was
// claimed again for it.
func (l *loop) comeBack() bool {
	if l.run.End != nil {
		return false
	}
	l.release()
	l.handle.leaves.Store(true)
	if asked, err := l.pending(l.work); err != nil || !asked {
		return false
	}
	l.handle.leaves.Store(false)
	lease, err := l.r.log.Claim(l.work, l.id, l.r.owner, l.r.leaseTTL)
	if err != nil {
		return false // the new owner reads the inbox
	}
	l.hold(lease)
	return l.write(l.work, l.claimed(lease)) == nil
}

func (l *loop) release() {
	defer l.unlock()
	l.r.leases.leave(l)
	if l.lease.Epoch == 0 { // it never began
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeSlow)
	defer cancel()
	if err := l.r.log.Release(ctx, l.lease); err != nil && !errors.Is(err, timeline.ErrStale) {
		l.r.logger.Warn("the lease was not released", "run", l.id, "err", err)
	}
}
