package recovery

import "time"

// Stranded is s of a run that no living process drives and that none can, since no machine is
// there that has what the run needs. No event says so: who knows the machines does. It has been so
// since a time.
func (s Situation) Stranded(needs Labels, since time.Time) Situation {
	s.Held = &Held{By: HeldByMachine, Needs: needs}
	s.InAir, s.Recovered = 0, ""
	s.Stages = []Stage{{From: since, State: StateMachine, Since: since, Line: strandedLine(needs), Stop: true}}
	return s
}

func strandedLine(needs Labels) string {
	return "Waiting for a machine that has " + needs.String() + ". {leave}"
}
