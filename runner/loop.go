package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	leaseTTL    = 15 * time.Second
	renewEvery  = 5 * time.Second
	stopGrace   = 2 * time.Second // for effects of a settled run, and for one attempt before the next
	mailboxSize = 64
)

// errStopped is the cause that an effect's context ends with when Next no longer
// wants it.
var errStopped = errors.New("no longer wanted")

// loop drives one run. Only its goroutine touches its fields.
type loop struct {
	r       *Runner
	id      string
	run     *recovery.Run
	lease   timeline.Lease
	mailbox chan message
	work    context.Context // what every effect's context comes from; over when the loop is
	air     map[string]*job // effects that are going on, by key
	shadows shadows
}

// message is what an effect tells the loop; it runs on the loop's goroutine.
type message func(ctx context.Context) error

// job is an effect in the air.
type job struct {
	cancel   context.CancelCauseFunc
	stopping bool
	attempt  *attempt // of a model call
}

func (r *Runner) newLoop(run *recovery.Run, id string, lease timeline.Lease) *loop {
	return &loop{
		r: r, id: id, run: run, lease: lease,
		mailbox: make(chan message, mailboxSize), air: map[string]*job{},
	}
}

func (l *loop) claimed() recovery.Claimed {
	return recovery.Claimed{Owner: l.lease.Owner, Epoch: l.lease.Epoch}
}

// begin writes what the loop starts from and launches it. Where that cannot be
// written, the run is nobody's again.
func (l *loop) begin(ctx context.Context, bodies ...recovery.Body) (*Run, error) {
	if err := l.write(ctx, bodies...); err != nil {
		l.release()
		return nil, err
	}
	return l.launch(ctx), nil
}

func (l *loop) launch(ctx context.Context) *Run {
	ctx, cancel := context.WithCancelCause(ctx)
	run := &Run{id: l.id, runner: l.r, ctx: ctx, cancel: cancel, done: make(chan struct{})}
	l.r.driven.Store(l.id, run)
	go func() {
		defer close(run.done)
		defer l.r.driven.CompareAndDelete(l.id, run)
		defer cancel(nil)
		err := l.drive(ctx)
		run.result, run.err = outcome(l.run)
		if err != nil {
			run.err = err
		}
	}()
	return run
}

// settled is the handle of a run that needs no driving.
func (l *loop) settled(ctx context.Context) *Run {
	l.release()
	run := &Run{id: l.id, runner: l.r, ctx: ctx, cancel: func(error) {}, done: make(chan struct{})}
	run.result, run.err = outcome(l.run)
	close(run.done)
	return run
}

// drive is the loop. It returns when the run has settled or is parked, or cannot
// be driven on.
func (l *loop) drive(ctx context.Context) error {
	work, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
	l.work = work
	defer l.release()
	defer l.land(stopWork)
	go l.followInbox(work)
	renew := time.NewTicker(renewEvery)
	defer renew.Stop()
	cancelled := ctx.Done()
	for {
		if err := l.reconcile(work); err != nil {
			return err
		}
		if (l.run.Settled() || l.parked()) && (l.run.End != nil || !l.shadows.awaited()) {
			return nil
		}
		select {
		case <-l.shadows.patience:
			l.shadows.giveUp()
		case m := <-l.mailbox:
			if err := m(work); err != nil {
				return err
			}
		case <-cancelled:
			cancelled = nil
			if err := l.write(work, recovery.CancelRequested{}); err != nil {
				return err
			}
		case <-renew.C:
			lease, err := l.r.log.Renew(work, l.lease, leaseTTL)
			if err != nil {
				return fmt.Errorf("run %s: keep its lease: %w", l.id, err)
			}
			l.lease = lease
		}
	}
}

// parked reports whether all that is left to do is to wait longer than a process
// should.
func (l *loop) parked() bool {
	w := l.run.Wait
	return w != nil && w.Until.Sub(l.r.now()) > recovery.MaxInProcessWait.Duration()
}

// reconcile writes what the heart concludes, and makes what is in the air what
// Next wants.
func (l *loop) reconcile(ctx context.Context) error {
	effects := recovery.Next(l.run)
	l.askShadows(effects)
	for len(effects) == 1 && effects[0].Record != nil {
		if isFailure(effects[0].Record) && l.shadows.awaited() {
			effects = nil
			break
		}
		if err := l.write(ctx, effects[0].Record); err != nil {
			return err
		}
		effects = recovery.Next(l.run)
		l.askShadows(effects)
	}
	wanted := make(map[string]bool, len(effects))
	for _, e := range effects {
		wanted[e.Key] = true
	}
	for key, j := range l.air {
		if !wanted[key] {
			l.stop(key, j)
		}
	}
	for _, e := range effects {
		if l.air[e.Key] == nil {
			if err := l.start(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loop) start(ctx context.Context, e recovery.Effect) error {
	switch {
	case e.Call != nil:
		return l.callModel(ctx, e.Key, e.Call)
	case e.Tool != nil:
		return l.runTool(ctx, e.Key, e.Tool)
	case e.Ask != nil:
		l.ask(ctx, e.Key, e.Ask)
	case e.Timer != nil:
		l.startTimer(ctx, e.Key, e.Timer)
	}
	return nil
}

func (l *loop) startTimer(ctx context.Context, key string, t *recovery.SetTimer) {
	ctx, j := l.launchJob(ctx, key)
	due := t.Due
	timer := time.AfterFunc(t.At.Sub(l.r.now()), func() {
		l.finish(key, j, func(ctx context.Context) error {
			if j.stopping {
				return nil
			}
			return l.write(ctx, due)
		})
	})
	context.AfterFunc(ctx, func() { timer.Stop() })
}

func (l *loop) launchJob(ctx context.Context, key string) (context.Context, *job) {
	ctx, cancel := context.WithCancelCause(ctx)
	j := &job{cancel: cancel}
	l.air[key] = j
	return ctx, j
}

// stop ends an effect that is no longer wanted. Timers and questions are gone at
// once; a model call or a tool stays in the air until it says that it has ended.
func (l *loop) stop(key string, j *job) {
	if j.stopping {
		return
	}
	j.stopping = true
	j.cancel(errStopped)
	if isQuick(key) {
		delete(l.air, key)
	}
}

// finish hands the end of an effect to the loop.
func (l *loop) finish(key string, j *job, end message) {
	l.post(func(ctx context.Context) error {
		if l.air[key] == j {
			delete(l.air, key)
		}
		j.cancel(errStopped)
		return end(ctx)
	})
}

// post puts a message into the mailbox, unless the loop is over.
func (l *loop) post(m message) {
	select {
	case l.mailbox <- m:
	case <-l.work.Done():
	}
}

// land stops what is still in the air when the loop is over and gives it a moment,
// so that the result of a tool that just ended is not lost.
func (l *loop) land(stopWork context.CancelCauseFunc) {
	for key, j := range l.air {
		l.stop(key, j)
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	for len(l.air) > 0 {
		select {
		case m := <-l.mailbox:
			if err := m(context.Background()); err != nil {
				l.r.logger.Warn("a late result was not written", "run", l.id, "err", err)
			}
		case <-grace.C:
			clear(l.air)
		}
	}
	stopWork(errStopped)
}

func (l *loop) release() {
	if err := l.r.log.Release(context.Background(), l.lease); err != nil && !errors.Is(err, timeline.ErrStale) {
		l.r.logger.Warn("the lease was not released", "run", l.id, "err", err)
	}
}

// followInbox turns commands into events, each once: an event says which command
// it answers, so a command is not taken again after a crash.
func (l *loop) followInbox(ctx context.Context) {
	for c, err := range l.r.log.Commands(ctx, l.id, l.run.Inbox) {
		if err != nil {
			if ctx.Err() == nil {
				l.r.logger.Warn("the inbox cannot be read", "run", l.id, "err", err)
			}
			return
		}
		l.post(func(ctx context.Context) error { return l.command(ctx, c) })
	}
}

func (l *loop) command(ctx context.Context, c timeline.Command) error {
	if c.N <= l.run.Inbox {
		return nil
	}
	if a, ok := c.Body.(recovery.Accepted); ok {
		if _, err := l.run.Accept(a.Suggestion, a.Action, a.Model, l.r.now()); err != nil {
			l.r.logger.Info("an answer came too late", "run", l.id, "err", err)
			return nil
		}
	}
	return l.writeAnswering(ctx, c.N, c.Body)
}
