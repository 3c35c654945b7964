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

// wants reports whether the effect is still wanted: a clock that ran out while the run
// waited for its store may have been moved by that.
func (l *loop) wants(key string) bool {
	return slices.ContainsFunc(recovery.Next(l.run), func(e recovery.Effect) bool { return e.Key == key })
}
