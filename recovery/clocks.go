package recovery

import (
	"slices"

	"github.com/mulligan-run/mulligan/failure"
)

// timed adds the run's timers to effects that take time.
func (r *Run) timed(effects ...Effect) []Effect {
	if o := r.Open; o != nil && o.terminal() && !o.Accepted {
		return effects // its time is over already; the hook is asked once more
	}
	clocks := r.clocks()
	if over := r.overdue(clocks); over != nil {
		return over
	}
	if note, ok := r.nextNote(); ok {
		clocks = append(clocks, note)
	}
	effects = slices.Grow(effects, len(clocks))
	for i := range clocks {
		effects = append(effects, Effect{Key: timerKey(clocks[i]), Timer: &clocks[i]})
	}
	return effects
}

// overdue records the first of the clocks that has expired; nil if none has.
func (r *Run) overdue(clocks []SetTimer) []Effect {
	for _, clock := range clocks {
		if !clock.At.After(r.Last) {
			return record(r, clock.Write)
		}
	}
	return nil
}

// clocks are the run's own timers, in order of precedence: if several are due at once, the first is
// named.
func (r *Run) clocks() []SetTimer {
	clocks := make([]SetTimer, 0, 4) // three of the run, and a note
	t := r.Policy.Timeouts
	if t.MaxTurn > 0 && r.parkedFrom.IsZero() {
		clocks = append(clocks, SetTimer{r.turnEnd(), Due{Timer: failure.TimerMaxTurn}})
	}
	if t.Step > 0 && r.Open == nil && !r.awaitsCaller() && !r.isHeld() && !r.toolRests() { // waiting for plugins, or on purpose, is not idleness
		clocks = append(clocks, SetTimer{r.LastStepAt.Add(r.stepLimit().Duration()), Due{Timer: failure.TimerStep}})
	}
	if t.Run > 0 {
		clocks = append(clocks, SetTimer{r.deadline(), Due{Timer: failure.TimerRun}})
	}
	return clocks
}

// stepLimit is how long a step may take; it is doubled if a person chose to wait longer.
func (r *Run) stepLimit() failure.Millis {
	if r.stepDoubled {
		return 2 * r.Policy.Timeouts.Step
	}
	return r.Policy.Timeouts.Step
}

func (r *Run) toolsInAir() bool {
	for _, t := range r.Pending {
		if t.State == ToolCallInAir {
			return true
		}
	}
	return false
}

// expiry is the failure that follows from an expired clock of the run.
func (r *Run) expiry() failure.Failure {
	kind, limit, since := failure.KindRunTimeout, r.Policy.Timeouts.Run, r.StartedAt
	switch r.expired {
	case failure.TimerMaxTurn:
		kind, limit = failure.KindMaxTurnTime, r.Policy.Timeouts.MaxTurn
	case failure.TimerStep:
		kind, limit, since = failure.KindStepTimeout, r.stepLimit(), r.LastStepAt
	}
	f := r.failure(kind, failure.OriginRunner, r.phase())
	f.Timer, f.Limit = r.expired, limit
	f.Elapsed = failure.InMillis(nonNegative(r.Last.Sub(since)))
	if r.expired == failure.TimerMaxTurn {
		f.Elapsed = max(0, f.Elapsed-failure.InMillis(r.Parked))
	}
	return f
}

// phase is how far the current work has got, as far as the log says.
func (r *Run) phase() failure.Phase {
	switch {
	case r.toolsInAir():
		return failure.PhaseTool
	case r.inAir() == 0:
		return failure.PhasePrompt
	case r.Attempt.Text != "":
		return failure.PhaseMidStream
	}
	return failure.PhaseBeforeFirstEvent
}
