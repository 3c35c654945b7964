package recovery

import "time"

// Stranded is s for a run that no living process drives and that none can drive, since there is no
// machine that has what it needs. No event says so: only code that knows the machines can tell.
// since is when that began.
func (s Situation) Stranded(needs Labels, since time.Time) Situation {
	s.Held = &Held{By: HeldByMachine, Needs: needs}
	s.InAir, s.Recovered = 0, ""
	s.Stages = []Stage{{From: since, State: StateMachine, Since: since, Line: strandedLine(needs), Stop: true}}
	return s
}

func strandedLine(needs Labels) string {
	return "Waiting for a machine that has " + needs.String() + ". {leave}"
}
