package runner

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// reason names what keeps an effect from starting. It is data: the loop acts on it, and the
// process's log shows it.
type reason string

// The reasons, in the order in which the gates are asked.
const (
	reasonShadows  reason = "shadows"   // hooks on trial get a moment to vote before the run stops
	reasonParked   reason = "parked"    // the wait is longer than a process should keep a run
	reasonOneModel reason = "one_model" // another model call of the run has not ended yet
	reasonTurn     reason = "turn"      // the provider is overloaded or down, and its calls take turns
	reasonSlept    reason = "slept"     // the computer slept, and the run's time may be over
	reasonDay      reason = "day"       // the day's budget is being checked, or has no room
	reasonMisfit   reason = "misfit"    // the arguments of a call do not match its tool's schema
	reasonCaller   reason = "caller"    // the run's caller may answer soon, so the run is kept here
)

// hold is what keeps an effect from starting; the zero value lets it start.
type hold struct {
	why   reason
	until time.Time     // when to ask again, unless a message comes first; zero = only then
	first recovery.Body // an event to write instead, before Next is asked again
}

// gate gives a reason why an effect of run must not start yet.
type gate func(l *loop, run *recovery.Run, e recovery.Effect) hold

// gates are all gates. The day comes last, since asking it reserves what the effect may use.
var gates = []gate{(*loop).fitsSchema, (*loop).awaitCaller, (*loop).shadowsVote, (*loop).park, (*loop).oneModel, (*loop).awaitTurn, (*loop).awake, (*loop).askDay}

// held asks all gates whether e may start.
func (l *loop) held(run *recovery.Run, e recovery.Effect) hold {
	for _, holds := range gates {
		if h := holds(l, run, e); h.why != "" {
			return h
		}
	}
	return hold{}
}

// asks reports whether e is a model call without a written intent, and what it may use.
func asks(e recovery.Effect) (reserve recovery.Budget, ok bool) {
	switch {
	case e.Call != nil && !e.Call.InAir:
		return e.Call.Intent.Reserve, true
	case e.Summarise != nil && !e.Summarise.InAir:
		return e.Summarise.Intent.Reserve, true
	}
	return recovery.Budget{}, false
}

// shadowsVote holds an effect by which the run fails, stops for a person or is parked, so that a
// healthy hook on trial can still vote on the last failure.
func (l *loop) shadowsVote(_ *recovery.Run, e recovery.Effect) hold {
	if !isFailure(e.Record) && !l.parks(e) {
		return hold{}
	}
	until, awaited := l.shadows.await()
	if !awaited {
		return hold{}
	}
	return hold{why: reasonShadows, until: until}
}

// park holds a timer that a process should not wait for: the process that keeps the log resumes the
// run.
func (l *loop) park(_ *recovery.Run, e recovery.Effect) hold {
	if !l.parks(e) {
		return hold{}
	}
	return hold{why: reasonParked, until: e.Timer.At}
}

// parks reports whether the run has nothing left to do but to wait for the timer e, of an open
// suggestion or of a long wait.
func (l *loop) parks(e recovery.Effect) bool {
	if e.Timer == nil {
		return false
	}
	if _, gives := e.Timer.Write.(recovery.ToolReturned); gives {
		return l.parksForTool()
	}
	switch due, _ := e.Timer.Write.(recovery.Due); due.Timer {
	case failure.TimerExpiry:
		return !l.waitsForPerson()
	case failure.TimerWait:
		return l.parked()
	}
	return false
}

// parked reports whether the run has nothing left to do but to wait for longer than a process
// should.
func (l *loop) parked() bool {
	w := l.run.Wait
	if w != nil && w.For == recovery.WaitTool {
		return l.resting
	}
	return w != nil && w.Until.Sub(l.clock.now()) > recovery.MaxInProcessWait.Duration()
}

// oneModel makes a run ask one model at a time: a call with an answer that is no longer wanted may
// take a moment to end.
func (l *loop) oneModel(_ *recovery.Run, e recovery.Effect) hold {
	if e.Call == nil && e.Summarise == nil {
		return hold{}
	}
	for _, j := range l.air {
		if j.asks {
			return hold{why: reasonOneModel}
		}
	}
	return hold{}
}

// turn is the turn that the loop was given at a provider that is overloaded or down.
type turn struct {
	key, model string // of the call; "" = there is none
	at         time.Time
}

// awaitTurn holds a model call until it is its turn at the provider. Nothing is written before
// that, so that the attempt's timers do not run.
func (l *loop) awaitTurn(_ *recovery.Run, e recovery.Effect) hold {
	if e.Call == nil || e.Call.InAir {
		return hold{}
	}
	if model := e.Call.Intent.Model; l.turn.key != e.Key || l.turn.model != model {
		l.turn = turn{key: e.Key, model: model, at: time.Now().Add(l.r.health.Turn(model))}
	}
	if time.Until(l.turn.at) <= 0 {
		return hold{}
	}
	return hold{why: reasonTurn, until: l.turn.at}
}

// awake checks, just before a conclusion is written, whether the computer has slept.
func (l *loop) awake(_ *recovery.Run, e recovery.Effect) hold {
	if _, model := asks(e); !model && e.Tool == nil && e.Record == nil || l.work == nil {
		return hold{}
	}
	slept, ok := l.clock.news()
	if !ok {
		return hold{}
	}
	return hold{why: reasonSlept, first: slept}
}

// askDay counts what a call may use against the day's budget before it begins; a call that would
// exceed it fails. A loop that is not driven yet could not receive the answer, and does not ask.
func (l *loop) askDay(run *recovery.Run, e recovery.Effect) hold {
	reserve, ok := asks(e)
	if !ok || run.Policy.DayBudget == (recovery.Budget{}) {
		return hold{}
	}
	if l.work != nil && !l.reserved.is(e.Key, reserve) {
		l.reserve(e.Key, reserve)
	}
	r := l.reserved
	switch {
	case r == nil || !r.ready:
		return hold{why: reasonDay}
	case r.lacks == "":
		return hold{}
	}
	l.reserved = nil
	return hold{why: reasonDay, first: run.OverDay(r.lacks, r.spent, reserve, l.r.health.Tomorrow(r.at))}
}
