package runner

import "github.com/mulligan-run/mulligan/recovery"

// maxOpening is how many events a run begins with at the most: started, claimed, began.
const maxOpening = 3

// opening adds to bodies, which begin the run, the intent of its first call, so that both
// are durable in one step and the call begins at once. Where somebody has to be asked
// before, or the call has to wait for its turn, they stay as they are, and the loop sees
// to the call as to any other.
func (l *loop) opening(bodies ...recovery.Body) []recovery.Body {
	foreseen := &recovery.Run{}
	for _, e := range l.events(l.clock.now(), 0, bodies...) {
		if err := foreseen.Apply(e); err != nil {
			return bodies // writing them says so
		}
	}
	foreseen.Carry(l.before)
	effects := recovery.Next(foreseen)
	if len(effects) == 0 || effects[0].Call == nil || foreseen.Policy.DayBudget != (recovery.Budget{}) {
		return bodies
	}
	intent := effects[0].Call.Intent
	if l.wait = l.r.health.Turn(intent.Model); l.wait > 0 {
		return bodies
	}
	l.opened = intent.Attempt
	return append(bodies, intent)
}
