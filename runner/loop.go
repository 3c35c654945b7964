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
	inboxAfter  = 100 * time.Millisecond  // a short call is over before it needs to follow its inbox
	inboxPause  = 250 * time.Millisecond  // before an inbox that could not be read is read again
	staleAfter  = time.Second             // of writing an intent: the run's time may be over since Next was asked
	mailboxSize = 16
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
	call        *Call                    // what the run asks for somebody else; nil = it is none, or that was lost
	unkept      string                   // what was said in the last attempt, where the log may not have it
	offered     []Tool                   // the tools, as they were when the loop was made
	lease       timeline.Lease           // as it was claimed; changed only while nothing is in the air
	stands      atomic.Pointer[standing] // until when it holds
	left        bool                     // it is not to be kept; guarded by the leases' mu
	mailbox     chan message
	work        context.Context // what every effect's context comes from; over when the loop is
	air         map[string]*job // effects that are going on, by key
	shadows     shadows
	again       <-chan time.Time // when what is held is looked at again; nil = when something is heard
	resting     bool             // nothing is left to do here but to wait for long
	clock       *clock
	engaged     engaged
	tools       int  // goroutines of tool calls
	misfits     int  // answers in a row that called a tool with arguments that do not fit
	leaving     bool // the run is let go of, for another process to go on with
	here        bool // it is driven here, also where runs are handed over
	stoppingAll bool // what is in the air is being stopped: what is asked of the run now is found in its inbox
	errands     errands
	counted     counted
	reserved    *reservation  // what the day was asked for the next call; nil = nothing
	turn        turn          // of the call that waits for it
	opened      uint64        // the attempt that was written by opening and is not in the air yet
	before      []llm.Message // what the run continues, until it begins
	behind      int           // runs that were read for that
	saved       uint64        // the last event that a snapshot knows
	tail        timeline.Tail // of the attempt that was in the air when the run was claimed, or let go of
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
	defer l.followInboxSoon(work)()
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
		if l.run.End != nil || l.resting {
			if more, err := l.readInbox(work); err != nil || !more {
				return err
			}
			continue
		}
		select {
		case <-l.again:
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
	for {
		effects := l.next()
		conclusion := len(effects) == 1 && effects[0].Record != nil
		if !conclusion {
			l.stopOthers(effects)
		}
		again, err := l.startAll(ctx, effects)
		if err != nil {
			return err
		}
		if !again {
			if conclusion { // it is held
				l.stopOthers(nil)
			}
			return nil
		}
	}
}

// stopOthers stops what is in the air and not wanted.
func (l *loop) stopOthers(wanted []recovery.Effect) {
	keys := make(map[string]bool, len(wanted))
	for _, e := range wanted {
		keys[e.Key] = true
	}
	for key, j := range l.air {
		if !keys[key] {
			l.stop(key, j)
		}
	}
}

// startAll starts what is wanted and not in the air, unless something holds it; again says
// that Next is to be asked before anything more starts.
func (l *loop) startAll(ctx context.Context, wanted []recovery.Effect) (again bool, err error) {
	l.again, l.resting = nil, false
	for _, e := range wanted {
		if l.air[e.Key] != nil {
			continue
		}
		began, h := time.Now(), l.held(l.run, e)
		switch {
		case h.first != nil:
			return true, l.write(ctx, h.first)
		case h.why != "":
			l.postpone(h)
			continue
		}
		if err := l.start(ctx, e); err != nil {
			return false, err
		}
		if e.Record != nil || time.Since(began) > staleAfter {
			return true, nil
		}
	}
	return false, nil
}

// postpone has the loop look again in time for an effect that is held. A run that is parked is
// left when its inbox is read.
func (l *loop) postpone(h hold) {
	if h.why == reasonParked {
		l.resting = true
	} else if !h.until.IsZero() {
		l.again = time.After(time.Until(h.until))
	}
}

// next is what the heart wants; the shadows are asked what they would say to that.
func (l *loop) next() []recovery.Effect {
	effects := recovery.Next(l.run)
	l.askShadows(effects)
	return effects
}

func (l *loop) start(ctx context.Context, e recovery.Effect) error {
	switch {
	case e.Record != nil:
		return l.write(ctx, e.Record)
	case e.Call != nil:
		return l.callModel(ctx, e.Key, e.Call)
	case e.Tool != nil:
		return l.runTool(ctx, e.Key, e.Tool)
	case e.Ask != nil:
		l.ask(ctx, e.Key, e.Ask)
	case e.Timer != nil:
		l.startTimer(e.Key, e.Timer)
		l.tellSuggested(e.Timer)
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
