package runner

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	leaseTTL    = 15 * time.Second        // renewed after a third of it
	lastWords   = 100 * time.Millisecond  // for a stream that is stopped to give what it held back
	stopGrace   = 1500 * time.Millisecond // for effects of a settled run, and for one attempt before the next
	tellGrace   = 300 * time.Millisecond  // for what health is told when a run settles
	toolGrace   = 12 * time.Second        // for tools that end after their run: 10 s, and a moment to be killed
	napWorth    = 30 * time.Second        // sleep that a stream is not expected to survive
	inboxPause  = 250 * time.Millisecond  // before an inbox that could not be read is read again
	staleAfter  = time.Second             // of writing an intent: the run's time may be over since Next was asked
	mailboxSize = 64
)

// errStopped is the cause that an effect's context ends with when Next no longer
// wants it.
var errStopped = errors.New("no longer wanted")

// errSlept is the cause that a stream ends with when the computer slept meanwhile.
var errSlept = errors.New("the computer slept")

// loop drives one run. Only its goroutine touches its fields.
type loop struct {
	r           *Runner
	id          string
	run         *recovery.Run
	offered     []Tool         // the tools, as they were when the loop was made
	lease       timeline.Lease // as it was claimed; changed only while nothing is in the air
	until       atomic.Int64   // its end by now, Unix ns
	mailbox     chan message
	work        context.Context // what every effect's context comes from; over when the loop is
	air         map[string]*job // effects that are going on, by key
	shadows     shadows
	clock       *clock
	engaged     engaged
	tools       int  // goroutines of tool calls
	misfits     int  // answers in a row that called a tool with arguments that do not fit
	leaving     bool // the run is let go of, for another process to go on with
	stoppingAll bool // what is in the air is being stopped: what is asked of the run now is found in its inbox
	errands     errands
	counted     counted
	reserved    *reservation  // what the day was asked for the next call; nil = nothing
	turn        string        // the key of the model call whose turn it is
	wait        time.Duration // until the turn that opening took
	opened      uint64        // the attempt that was written by opening and is not in the air yet
	before      []llm.Message // what the run continues, until it begins
	behind      int           // runs that were read for that
	saved       uint64        // the last event that a snapshot knows
	unlock      func()        // lets others here claim the run, which then is driven or nobody's

	handle    *Run            // of whoever waits for the run
	ctx       context.Context // the run's own: over when it is cancelled or let go of; nil before it is driven
	patience  time.Duration   // with the store
	abandoned bool            // the handle has settled before the loop is over
}

// message is what an effect tells the loop; it runs on the loop's goroutine.
type message func(ctx context.Context) error

// job is an effect in the air.
type job struct {
	cancel   context.CancelCauseFunc
	stopping bool
	attempt  *attempt // of a model call
	waits    bool     // nothing is done for it any more, or yet: health is told or asked
	asks     bool     // a model: for the run's answer or for a summary
}

// asking reports whether a model is still being asked, which may be so for a moment after
// nobody wants the answer any more. A run asks one at a time.
func (l *loop) asking() bool {
	for _, j := range l.air {
		if j.asks {
			return true
		}
	}
	return false
}

func (r *Runner) newLoop(run *recovery.Run, id string, lease timeline.Lease) *loop {
	l := &loop{
		r: r, id: id, run: run, offered: r.tools(), patience: startPatience,
		mailbox: make(chan message, mailboxSize), air: map[string]*job{}, clock: newClock(later(r.now(), run.Last), r.slept),
	}
	l.hold(lease)
	return l
}

// hold makes lease the loop's.
func (l *loop) hold(lease timeline.Lease) {
	l.lease = lease
	l.until.Store(lease.Expires.UnixNano())
}

func claimed(by timeline.Lease) recovery.Claimed {
	return recovery.Claimed{Owner: by.Owner, Epoch: by.Epoch}
}

// goOn writes what the loop of a run that was claimed starts from and launches it.
func (l *loop) goOn(ctx context.Context, bodies ...recovery.Body) (*Run, error) {
	return l.launchAfter(ctx, l.write(ctx, append([]recovery.Body{claimed(l.lease)}, bodies...)...))
}

// launchAfter launches the loop once what it starts from was written. Where err says that
// this could not be, the run is nobody's again.
func (l *loop) launchAfter(ctx context.Context, err error) (*Run, error) {
	if err != nil {
		l.leave()
		return nil, err
	}
	l.run.Carry(l.before)
	return l.launch(ctx), nil
}

func (l *loop) launch(ctx context.Context) *Run {
	ctx, cancel := context.WithCancelCause(ctx)
	run := &Run{id: l.id, runner: l.r, ctx: ctx, cancel: cancel, done: make(chan struct{})}
	l.r.driven.Store(l.id, run)
	l.unlock()
	l.r.busy.Go(func() {
		defer cancel(nil)
		work, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
		defer stopWork(errStopped)
		l.work, l.ctx, l.handle = work, ctx, run
		err := l.driveToEnd(ctx)
		for err == nil && l.comeBack() {
			err = l.driveToEnd(ctx)
		}
		l.giveBack()
		l.saveLast(work)
		l.errands.done(tellGrace)
		toolsGoOn := l.run.End != nil && l.tools > 0
		if !toolsGoOn {
			l.leave()
		}
		if !l.abandoned {
			result, end := outcome(l.run)
			if err != nil {
				end = err
			}
			if toolsGoOn {
				l.run = l.run.Clone() // the result has the other one
			}
			run.settle(result, end)
			l.abandoned = true // a late note that cannot be written settles nothing again
		}
		if toolsGoOn {
			l.stopAll(toolGrace, func() bool { return l.tools == 0 })
			l.leave()
		}
	})
	return run
}

// driveToEnd drives the run, and stops what is still in the air when that is over.
func (l *loop) driveToEnd(ctx context.Context) error {
	l.patience = storePatience
	err := l.drive(ctx)
	l.patience = startPatience
	l.stopAll(stopGrace, func() bool { return len(l.air) == 0 })
	l.engaged.end()
	return err
}

// leave lets go of the run: anyone may claim it now.
func (l *loop) leave() {
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

// drive is the loop. It returns when the run has settled or is parked, is let go of, or
// cannot be driven on.
func (l *loop) drive(ctx context.Context) error {
	work := l.work
	if _, err := l.readInbox(work); err != nil {
		return err
	}
	following, unfollow := context.WithCancel(work)
	defer unfollow()
	go l.followInbox(following, l.run.Inbox)
	renew := time.NewTicker(l.r.leaseTTL / 3)
	defer renew.Stop()
	cancelled := ctx.Done()
	for {
		// A cancel comes before what Next makes of effects that were stopped for it.
		if cancelled != nil && ctx.Err() != nil && l.run.End == nil {
			cancelled = nil
			if errors.Is(context.Cause(ctx), ErrLetGo) {
				return l.letGo(work)
			}
			if err := l.write(work, recovery.CancelRequested{}); err != nil {
				return err
			}
		}
		if err := l.reconcile(work); err != nil {
			return err
		}
		if (l.run.Settled() || l.parked()) && (l.run.End != nil || !l.shadows.awaited()) {
			if more, err := l.readInbox(work); err != nil || !more {
				return err
			}
			continue
		}
		select {
		case <-l.shadows.patience:
			l.shadows.giveUp()
		case m := <-l.mailbox:
			if err := m(work); err != nil {
				return err
			}
		case <-cancelled:
		case <-renew.C:
			if err := l.wake(work); err != nil {
				return err
			}
			if err := l.keepLease(work); err != nil {
				return err
			}
		}
	}
}

// parked reports whether all that is left to do is to wait longer than a process
// should.
func (l *loop) parked() bool {
	w := l.run.Wait
	return w != nil && w.Until.Sub(l.clock.now()) > recovery.MaxInProcessWait.Duration()
}

// letGo makes durable what was heard, and leaves the rest to whoever claims the run next.
func (l *loop) letGo(ctx context.Context) error {
	l.leaving = true
	for key, j := range l.air {
		if j.attempt == nil || !l.inAir(j.attempt) {
			continue
		}
		if tail, ok := l.breakOff(key, j); ok {
			if err := l.write(ctx, tail); err != nil {
				return errors.Join(ErrLetGo, err)
			}
		}
	}
	return ErrLetGo
}

// wake writes down that the computer slept. A stream does not survive a long sleep, and
// would only be missed much later.
func (l *loop) wake(ctx context.Context) error {
	slept, ok := l.clock.news()
	if !ok {
		return nil
	}
	if slept.For.Duration() >= napWorth {
		for _, j := range l.air {
			if j.attempt != nil {
				j.cancel(errSlept)
			}
		}
	}
	return l.write(ctx, slept)
}

// reconcile writes what the heart concludes, and makes what is in the air what
// Next wants.
func (l *loop) reconcile(ctx context.Context) error {
	effects := l.next()
	for len(effects) == 1 && effects[0].Record != nil {
		if isFailure(effects[0].Record) && l.shadows.awaited() {
			effects = nil
			break
		}
		err := l.awake(ctx)
		if err == nil {
			err = l.write(ctx, effects[0].Record)
		}
		if err != nil && !errors.Is(err, errAsleep) {
			return err
		}
		effects = l.next()
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
		if l.air[e.Key] != nil {
			continue
		}
		began := time.Now()
		switch err := l.start(ctx, e); {
		case errors.Is(err, errOverDay), errors.Is(err, errAsleep):
			return l.reconcile(ctx)
		case err != nil && !errors.Is(err, errLater):
			return err
		}
		if time.Since(began) > staleAfter {
			return l.reconcile(ctx)
		}
	}
	return nil
}

// next is what the heart wants; the shadows are asked what they would say to that.
func (l *loop) next() []recovery.Effect {
	effects := recovery.Next(l.run)
	l.askShadows(effects)
	return effects
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
	case e.Watch != nil:
		l.watchNetwork(ctx, e.Key, e.Watch)
	case e.Summarise != nil:
		return l.summarise(ctx, e.Key, e.Summarise)
	}
	return nil
}

func (l *loop) startTimer(ctx context.Context, key string, t *recovery.SetTimer) {
	ctx, j := l.launchJob(ctx, key)
	body := t.Write
	timer := time.AfterFunc(t.At.Sub(l.clock.now()), func() {
		l.finish(key, j, func(ctx context.Context) error {
			if j.stopping || !l.wants(key) {
				return nil
			}
			return l.write(ctx, body)
		})
	})
	context.AfterFunc(ctx, func() { timer.Stop() })
}

// wants reports whether the effect is still wanted: a clock that ran out while the run
// waited for its store may have been moved by that.
func (l *loop) wants(key string) bool {
	return slices.ContainsFunc(recovery.Next(l.run), func(e recovery.Effect) bool { return e.Key == key })
}

func (l *loop) launchJob(ctx context.Context, key string) (context.Context, *job) {
	ctx, cancel := context.WithCancelCause(ctx)
	j := &job{cancel: cancel}
	l.air[key] = j
	return ctx, j
}

// stop ends an effect that is no longer wanted. Timers and questions are gone at once, and
// what waits for health; a model call or a tool stays in the air until it says that it has
// ended.
func (l *loop) stop(key string, j *job) {
	if j.stopping {
		return
	}
	j.stopping = true
	j.cancel(errStopped)
	if isQuick(key) || j.waits {
		delete(l.air, key)
	}
}

// finish hands the end of an effect to the loop.
func (l *loop) finish(key string, j *job, end message) {
	l.post(func(ctx context.Context) error {
		l.takeOut(key, j)
		return end(ctx)
	})
}

// takeOut takes an effect out of the air.
func (l *loop) takeOut(key string, j *job) {
	if l.air[key] == j {
		delete(l.air, key)
	}
	j.cancel(errStopped)
}

// post puts a message into the mailbox, unless the loop is over.
func (l *loop) post(m message) {
	select {
	case l.mailbox <- m:
	case <-l.work.Done():
	}
}

// stopAll stops what is still in the air when the loop is over and gives it a moment, so
// that the result of a tool that just ended is not lost.
func (l *loop) stopAll(moment time.Duration, over func() bool) {
	l.stoppingAll = true
	defer func() { l.stoppingAll = false }()
	for key, j := range l.air {
		l.stop(key, j)
	}
	grace := time.NewTimer(moment)
	defer grace.Stop()
	for !over() {
		select {
		case m := <-l.mailbox:
			if err := m(l.work); err != nil {
				l.r.logger.Warn("a late result was not written", "run", l.id, "err", err)
			}
		case <-grace.C:
			return
		}
	}
}

func (l *loop) release() {
	defer l.unlock()
	if l.lease.Epoch == 0 { // it never began
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeSlow)
	defer cancel()
	if err := l.r.log.Release(ctx, l.lease); err != nil && !errors.Is(err, timeline.ErrStale) {
		l.r.logger.Warn("the lease was not released", "run", l.id, "err", err)
	}
}

// readInbox takes the commands that are in the inbox by now, and reports whether one
// changed the run.
func (l *loop) readInbox(ctx context.Context) (more bool, err error) {
	if l.run.End != nil || l.run.Seq <= maxOpening && l.lease.Epoch == 1 { // of a run that has just begun nobody knows
		return false, nil
	}
	before := l.run.Seq
	commands, err := l.inbox(ctx)
	for _, c := range commands {
		if err == nil {
			err = l.command(ctx, c)
		}
	}
	return l.run.Seq != before, err
}

// inbox is what the inbox has that was not answered. Where the run has settled the store is
// not waited for for long, since people wait for what it has come to: what cannot be read
// now makes the run due.
func (l *loop) inbox(ctx context.Context) (commands []timeline.Command, err error) {
	read := func(ctx context.Context) error {
		commands, err = l.r.log.Inbox(ctx, l.id, l.run.Inbox, 0)
		return err
	}
	if !l.run.Settled() && !l.parked() {
		_, err := l.persist(ctx, read)
		return commands, err
	}
	if err := l.r.insist(ctx, func() error { return read(ctx) }); err != nil && mayPass(err) {
		l.r.logger.Warn("the inbox of a run that has settled cannot be read", "run", l.id, "err", err)
		return nil, nil
	}
	return commands, err
}

// comeBack lets go of the run and looks into its inbox once more: a command may have been
// sent there because the run had an owner a moment ago. It reports whether there is one,
// and the run is claimed again for it.
func (l *loop) comeBack() bool {
	if l.run.End != nil {
		return false
	}
	l.release()
	if asked, err := l.pending(l.work); err != nil || !asked {
		return false
	}
	lease, err := l.r.log.Claim(l.work, l.id, l.r.owner, l.r.leaseTTL)
	if err != nil {
		return false // whoever has it reads the inbox
	}
	l.hold(lease)
	return l.write(l.work, claimed(lease)) == nil
}

// fits says why a command comes too late, or nil.
func (l *loop) fits(c timeline.Command) error {
	a, ok := c.Body.(recovery.Accepted)
	if !ok {
		return nil
	}
	_, err := l.run.Accept(a.Suggestion, a.Action, a.Model, l.clock.now())
	return err
}

// followInbox turns commands into events, each once: an event says which command
// it answers, so a command is not taken again after a crash. An inbox that cannot be read
// now may be later.
func (l *loop) followInbox(ctx context.Context, after uint64) {
	for ctx.Err() == nil {
		for c, err := range l.r.log.Commands(ctx, l.id, after) {
			if err != nil && !mayPass(err) {
				return
			} else if err != nil {
				l.r.logger.Warn("the inbox cannot be read", "run", l.id, "err", err)
				break
			}
			after = c.N
			l.post(func(ctx context.Context) error { return l.command(ctx, c) })
		}
		select {
		case <-time.After(inboxPause):
		case <-ctx.Done():
		}
	}
}

func (l *loop) command(ctx context.Context, c timeline.Command) error {
	if c.N <= l.run.Inbox || l.run.End != nil || l.stoppingAll {
		return nil
	}
	if err := l.fits(c); err != nil {
		l.r.logger.Info("an answer came too late", "run", l.id, "err", err)
		return l.writeAnswering(ctx, c.N, recovery.Noted{Topic: recovery.TopicTooLate})
	}
	bodies := []recovery.Body{c.Body}
	if a, ok := c.Body.(recovery.Accepted); ok {
		bodies = l.run.Answering(a, l.clock.now())
	}
	return l.writeAnswering(ctx, c.N, bodies...)
}
