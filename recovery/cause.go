package recovery

import "github.com/mulligan-run/mulligan/failure"

// Cause says what the run itself knows of a failure. A model, a tool or a plugin describes
// its failures as it likes; what lifts or moves a limit goes by this alone, which only the
// heart sets.
type Cause string

// The causes. Nothing stands for what the attempt's own model or tool reported.
const (
	CauseAttempt        Cause = ""
	CauseClock          Cause = "clock"           // a clock of the run expired: step, max_turn or run
	CauseBudget         Cause = "budget"          // the run's own tokens or money are used up
	CauseDayBudget      Cause = "day_budget"      // those of all runs of the day are
	CauseRounds         Cause = "rounds"          // its rounds are
	CauseCutShort       Cause = "cut_short"       // a person did not wait for the call
	CauseUnknownOutcome Cause = "unknown_outcome" // a tool call may or may not have taken effect
	CauseCooling        Cause = "cooling"         // nobody asked for the run's model by name, and it cools down
	CauseGivenUp        Cause = "given_up"        // its caller gave up, and asks nobody
	CauseForbidden      Cause = "forbidden"       // a plugin forbids the model that was to be asked
)

// terminal reports whether the run's own time or budget is over, so that a decision can
// only be offered.
func (o *OpenFailure) terminal() bool {
	switch o.Cause {
	case CauseClock:
		return o.Failure.Timer != failure.TimerStep
	case CauseBudget, CauseDayBudget, CauseRounds:
		return true
	case CauseAttempt, CauseCutShort, CauseUnknownOutcome, CauseCooling, CauseGivenUp, CauseForbidden:
	}
	return false
}
