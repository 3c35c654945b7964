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
	leaseTTL    = 15 * time.Second        // from claim to expiry; renewed after a third of it
	lastWords   = 100 * time.Millisecond  // for a stopped stream to release the text that it held back
	stopGrace   = 1500 * time.Millisecond // for effects of a settled run to end, and for one attempt to end before the next
	tellGrace   = 300 * time.Millisecond  // for health to record failures when a run settles
	toolGrace   = 12 * time.Second        // for tools to end after their run: 10 s, and a moment to be killed
	napWorth    = 30 * time.Second        // a sleep that a stream is not expected to survive
	inboxAfter  = 100 * time.Millisecond  // a short call is over before it needs to follow its inbox
	inboxPause  = 250 * time.Millisecond  // before an inbox that could not be read is read again
	loopAfter   = 50 * time.Millisecond   // a first call that is over by then needs no loop beside it
	staleAfter  = time.Second             // if writing an intent took longer, the run's time may be over by then
	mailboxSize = 16
)

// errStopped is the cause of an effect's context when Next no longer wants the effect.
var errStopped = errors.New("no longer wanted")

// errSlept is the cause of a stream's context if the computer slept during the stream.
var errSlept = errors.New("the computer slept")

// loop drives one run. Only its goroutine touches its fields.
type loop struct {
	r           *Runner
	id          string
	run         *recovery.Run
	call        *Call                    // another program's call; nil = there is none, or it was lost with its process
	unkept      string                   // text of the last attempt that the log may not have
	offered     []Tool                   // the tools, when the loop was made
	lease       timeline.Lease           // as claimed; changed only while nothing is in the air
	stands      atomic.Pointer[standing] // how long the lease holds
	left        bool                     // its lease must no longer be kept; guarded by the leases' mu
	mailbox     chan message
	work        context.Context // the parent of every effect's context; over when the loop is
	air         map[string]*job // effects in the air, by key
	shadows     shadows
	again       <-chan time.Time // when to check again what is held; nil = when a message comes
	resting     bool             // nothing is left to do here but a long wait
	clock       *clock
	engaged     engaged
	tools       int  // goroutines of tool calls
	misfits     int  // answers in a row with tool arguments that do not match
	awaited     bool // whoever started the run waits for it
	leaving     bool // the run is being released, for another process to resume
	here        bool // drive it here even if runs are handed over
	stoppingAll bool // everything in the air is being stopped: commands stay in the inbox
	errands     errands
	counted     counted
	reserved    *reservation    // of the day's budget, for the next call; nil = none
	turn        turn            // of the call that waits for it
	opening     recovery.Effect // the call whose intent open wrote, until it begins; none if Call is nil
	before      []llm.Message   // the conversation that the run continues, until it begins
	behind      int             // how many runs were read for that
	saved       uint64          // seq of the last event in a snapshot
	tail        timeline.Tail   // of the attempt that was in the air when the run was claimed, or released
	unlock      func()          // lets others here claim the run, which is then driven or has no owner

	handle    *Run            // for callers that wait for the run
	ctx       context.Context // the run's own: over when it is cancelled or released; nil before it is driven
	patience  time.Duration   // how long to retry the store
	abandoned bool            // the handle settled before the loop was over
}

// drive is the loop. It returns when the run has settled or is parked, is released, or cannot be
// driven any further.
func (l *loop) drive(ctx context.Context) error {
	work := l.work
	if _, err := l.readInbox(work); err != nil {
		return err
	}
	if _, err := l.takeWaiting(work); err != nil || l.run.End != nil {
		return err
	}
	pulse := time.NewTimer(inboxAfter)
	defer pulse.Stop()
	var unfollow func() // nil = the inbox is not followed yet
	defer func() {
		if unfollow != nil {
			unfollow()
		}
	}()
	cancelled := ctx.Done()
	for {
		// A cancel comes before anything that Next makes of effects that were stopped because of
		// it.
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
		case <-pulse.C:
			if pulse.Reset(l.r.leaseTTL / 3); unfollow == nil {
				unfollow = l.followInbox(work)
				continue
			}
			if err := l.wake(work); err != nil {
				return err
			}
			if err := l.keepLease(work); err != nil {
				return err
			}
		}
	}
}

// takeWaiting takes a message that waits already, such as that the first call is over, if it was
// short. It reports whether there was one.
func (l *loop) takeWaiting(ctx context.Context) (taken bool, err error) {
	select {
	case m := <-l.mailbox:
		return true, m(ctx)
	default:
		return false, nil
	}
}

// wake records that the computer slept. A stream does not survive a long sleep, and its timers
// would notice that only much later.
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

// reconcile writes what recovery.Next concludes, and starts and stops effects until those in the
// air are the ones that it wants.
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

// stopOthers stops effects in the air that are not wanted.
func (l *loop) stopOthers(wanted []recovery.Effect) {
	for key, j := range l.air {
		if !slices.ContainsFunc(wanted, func(e recovery.Effect) bool { return e.Key == key }) {
			l.stop(key, j)
		}
	}
}

// startAll starts effects that are wanted and not in the air, unless a gate holds them. again says
// that Next must be called before anything more starts.
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

// postpone makes the loop look again in time at an effect that is held. A run that is parked is
// left once its inbox has been read.
func (l *loop) postpone(h hold) {
	if h.why == reasonParked {
		l.resting = true
	} else if !h.until.IsZero() {
		l.again = time.After(time.Until(h.until))
	}
}

// next is what recovery.Next wants. Hooks on trial are asked about it, too.
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

// wants reports whether the effect is still wanted: a timer that expired while the run waited for
// its store may have been moved by that wait.
func (l *loop) wants(key string) bool {
	return slices.ContainsFunc(recovery.Next(l.run), func(e recovery.Effect) bool { return e.Key == key })
}
