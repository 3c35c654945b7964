package recovery

import (
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// Apply changes r by one event. It refuses an event that is not the next one of this run;
// otherwise it accepts whatever the log says.
func (r *Run) Apply(e Event) error {
	if e.Seq != r.Seq+1 {
		return fmt.Errorf("run %s: event %d cannot follow event %d", r.ID, e.Seq, r.Seq)
	}
	if r.Seq > 0 && e.Run != r.ID {
		return fmt.Errorf("run %s: an event of run %s", r.ID, e.Run)
	}
	if r.Seq == 0 {
		if _, ok := e.Body.(Started); !ok {
			return fmt.Errorf("run %s: its first event is %s, not started", e.Run, e.Type())
		}
	}
	r.Seq = e.Seq
	if e.Inbox > r.Inbox {
		r.Inbox = e.Inbox
	}
	if r.End == nil {
		r.apply(e)
	}
	if at, ok := seen(e); ok && at.After(r.lastSeen) {
		r.lastSeen = at
	}
	r.Last = e.Time
	return nil
}

func (r *Run) apply(e Event) {
	switch b := e.Body.(type) {
	case Started:
		r.started(e, b)
	case Claimed:
		r.claimed(e, b)
	case Began:
		r.began(e, b)
	case Answered:
		r.answered(e, b)
	case Failed:
		r.failed(e, b)
	case Repaired:
		r.repaired(b)
	case Voted:
		r.voted(b)
	case Decided:
		switch b.Occasion.Hook() {
		case HookBeforeCall:
			r.judged(e, b)
		case HookToolError:
			r.decidedAboutTool(e, b)
		default:
			r.decided(b)
		}
	case Waiting:
		r.Wait = &b
		r.Status = StatusWaiting
		if b.Until.Sub(e.Time) > MaxInProcessWait.Duration() {
			r.park(e.Time)
		}
	case Due:
		r.due(e, b)
	case ToolBegan:
		r.toolBegan(e, b)
	case ToolReturned:
		r.toolReturned(e, b)
	case Compacting:
		r.compacting(b)
	case Compacted:
		r.compacted(b)
	case Noted:
		r.noted(b)
	case Slept:
		r.slept(b)
	case Suggested:
		r.suggested(e, b)
	case Accepted:
		r.accepted(e, b)
	case CancelRequested:
		r.cancelled = true
		r.stopped(b)
	case Paused:
		r.paused(b)
	case Ended:
		r.ended(b)
	case Unknown: // from a newer version: kept, but without effect
	}
}

func (r *Run) started(e Event, b Started) {
	r.ID = e.Run
	r.StartedAt, r.LastStepAt, r.WaitsUntil = e.Time, e.Time, b.WaitsUntil
	r.SessionKey, r.AgentID, r.Labels, r.Needs = b.SessionKey, b.AgentID, b.Labels, b.Needs
	r.Session, r.Continues, r.whole = b.Session, b.Continues, b.Continues == nil
	r.Policy, r.System, r.Tools, r.Form = b.Policy, b.System, b.Tools, b.Form
	r.Chosen, r.Model, r.cooling = b.Model, b.Model, b.Cooling
	if b.Stays != nil {
		r.Chosen = b.Stays.Left
	}
	r.contextBytes = len(b.System) + b.Asked.size()
	for _, t := range b.Tools {
		r.contextBytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	r.say(b.Input...)
	r.Status = StatusRunning
}

// claimed marks the calls that an older epoch had in the air as lost.
func (r *Run) claimed(e Event, b Claimed) {
	r.Owner, r.Epoch = b.Owner, b.Epoch
	r.lost(b)
	if r.Attempt != nil && r.Attempt.InAir() {
		r.Attempt.State = AttemptOrphaned
	}
	for _, t := range r.Pending {
		if t.State == ToolCallInAir && t.By != ByCaller {
			t.State = ToolCallOrphaned
		}
	}
	r.Compacting = nil // the summary was counted when it began
	if r.Wait != nil && r.Wait.For == WaitStore {
		r.Wait, r.Status = nil, StatusRunning
	}
	if !r.Settled() && r.parkedFrom.IsZero() && e.Seq > 2 {
		r.skipTime(nonNegative(e.Time.Sub(r.Last)))
	}
}

// slept leaves the time in which this computer slept out of the clocks.
func (r *Run) slept(b Slept) {
	if r.parkedFrom.IsZero() {
		r.skipTime(nonNegative(b.For.Duration()))
	}
}

// paused records that the run waits for its store, or that this wait is over. The step's clock
// stands still meanwhile, since the run is not idle (an open failure stops it anyway). The limits
// of the turn and of the run count this time like any wait.
func (r *Run) paused(b Paused) {
	switch {
	case b.For <= 0:
		r.Status = StatusWaiting
		r.Wait, r.PausedFor = &Waiting{For: WaitStore}, b.Reason
	case r.Open == nil:
		r.LastStepAt = r.LastStepAt.Add(b.For.Duration())
	}
}

// skipTime leaves d, in which no process drove the run, out of every clock but the run's own.
func (r *Run) skipTime(d time.Duration) {
	r.Parked += d
	r.LastStepAt = r.LastStepAt.Add(d)
}

// resume clears everything that kept the run from going on.
func (r *Run) resume(now time.Time) {
	r.Status = StatusRunning
	r.Open, r.Wait = nil, nil
	r.offer = suggestionNone
	r.unpark(now)
}

func (r *Run) park(now time.Time) {
	if r.parkedFrom.IsZero() {
		r.parkedFrom = now
	}
}

func (r *Run) unpark(now time.Time) {
	if !r.parkedFrom.IsZero() {
		r.Parked += nonNegative(now.Sub(r.parkedFrom))
		r.parkedFrom = time.Time{}
	}
}

func (r *Run) due(e Event, b Due) {
	switch b.Timer {
	case failure.TimerWait, failure.TimerNetwork:
		if b.Failure == 0 {
			r.letGo(e.Time)
			return
		}
		if r.Open != nil && r.Open.Seq == b.Failure {
			r.Open.Waited = true
			r.Wait, r.Status = nil, StatusRunning
			r.unpark(e.Time)
			return
		}
		r.toolWaited(e, b.Failure)
	case failure.TimerExpiry:
		if r.offer == suggestionOpen && r.Open != nil && r.Open.Seq == b.Failure {
			r.offer = suggestionOver
		}
	case failure.TimerStep, failure.TimerMaxTurn, failure.TimerRun:
		r.expired = r.named(b.Timer, e.Time)
	}
}

// named gives timer or, if several of the run's clocks are due at now, the first of them in the
// order of clocks.
func (r *Run) named(timer failure.Timer, now time.Time) failure.Timer {
	for _, clock := range r.clocks() {
		if due, ok := clock.Write.(Due); ok && (due.Timer == timer || !clock.At.After(now)) {
			return due.Timer
		}
	}
	return timer
}

func (r *Run) ended(b Ended) {
	r.End = &b
	r.Status = b.Status
	r.Wait = nil
	if r.offer == suggestionOpen {
		r.offer = suggestionSuperseded
	}
	r.unpark(r.Last)
	if r.againInAir() {
		r.leaveAgain()
	}
	if r.Attempt != nil {
		r.Attempt.State = AttemptOver
	}
}

func nonNegative(d time.Duration) time.Duration { return max(0, d) }
