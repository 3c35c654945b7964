package runner

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// reason says what keeps an effect from starting. It is data: the loop goes by it, and the
// log of the process has it.
type reason string

// The reasons, in the order in which they are asked about.
const (
	reasonShadows  reason = "shadows"   // hooks on trial have a moment to vote before the run stops
	reasonParked   reason = "parked"    // it is longer until then than a process waits
	reasonOneModel reason = "one_model" // another model call of the run has not ended yet
	reasonTurn     reason = "turn"      // the provider has too much to do
	reasonSlept    reason = "slept"     // the computer slept, and the run's time may be over
	reasonDay      reason = "day"       // the day's budget is being asked, or has no room
)

// hold is what keeps an effect from starting; the zero value is nothing.
type hold struct {
	why   reason
	until time.Time     // when to ask again, if the loop hears of nothing sooner; zero = it will
	first recovery.Body // what is written instead, before Next is asked again
}

// gate is one reason not to start an effect of run yet.
type gate func(l *loop, run *recovery.Run, e recovery.Effect) hold

// gates are all of them. The day comes last: it counts what it is asked about.
var gates = []gate{(*loop).shadowsVote, (*loop).park, (*loop).oneModel, (*loop).awaitTurn, (*loop).awake, (*loop).askDay}

// held is the one question that is asked before anything starts: what keeps e from it?
func (l *loop) held(run *recovery.Run, e recovery.Effect) hold {
	for _, holds := range gates {
		if h := holds(l, run, e); h.why != "" {
			return h
		}
	}
	return hold{}
}

// asks reports whether a model is asked by e whose intent is not written yet, and what that
// may use.
func asks(e recovery.Effect) (reserve recovery.Budget, ok bool) {
	switch {
	case e.Call != nil && !e.Call.InAir:
		return e.Call.Intent.Reserve, true
	case e.Summarise != nil && !e.Summarise.InAir:
		return e.Summarise.Intent.Reserve, true
	}
	return recovery.Budget{}, false
}

// shadowsVote gives the shadows their moment before the run fails, stops for a person or
// is parked, so that a healthy one's vote on the last failure is not lost.
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

// park keeps a timer from starting that a process should not wait for: whoever keeps the
// log goes on with the run.
func (l *loop) park(_ *recovery.Run, e recovery.Effect) hold {
	if !l.parks(e) {
		return hold{}
	}
	return hold{why: reasonParked, until: e.Timer.At}
}

// parks reports whether nothing is left to do for the run but to wait for the timer e: it
// is that of an open suggestion, or of a long wait.
func (l *loop) parks(e recovery.Effect) bool {
	if e.Timer == nil {
		return false
	}
	switch due, _ := e.Timer.Write.(recovery.Due); due.Timer {
	case failure.TimerExpiry:
		return !l.waitsForPerson()
	case failure.TimerWait:
		return l.parked()
	}
	return false
}

// parked reports whether all that is left to do is to wait longer than a process
// should.
func (l *loop) parked() bool {
	w := l.run.Wait
	return w != nil && w.Until.Sub(l.clock.now()) > recovery.MaxInProcessWait.Duration()
}

// oneModel has a run ask one model at a time: one that nobody wants an answer of any more
// may be asked for a moment longer.
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

// turn is what the loop was given at a provider that has too much to do.
type turn struct {
	key, model string // of the call; "" = it has none
	at         time.Time
}

// awaitTurn has a model call begin when its provider has a turn for it: nothing is written
// until then, so that the clocks of the attempt do not run.
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

// awake looks, right before something that was concluded is written, whether the computer
// slept since.
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

// askDay has what a call may use counted against the day's budget before it begins; one that
// would exceed it fails. Who has not begun to drive would not hear the answer.
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
