package recovery

import "github.com/mulligan-run/mulligan/failure"

// Cause says what the run itself knows about a failure. A model, a tool or a plugin may describe
// its failures as it likes; whether a limit is lifted or extended depends on the Cause alone, which
// only this package sets.
type Cause string

// The causes. An empty Cause means that the attempt's own model or tool reported the failure.
const (
	CauseAttempt        Cause = ""
	CauseClock          Cause = "clock"           // a clock of the run expired: step, max_turn or run
	CauseBudget         Cause = "budget"          // the run's own tokens or money are used up
	CauseDayBudget      Cause = "day_budget"      // the tokens or money of all runs of the day are used up
	CauseRounds         Cause = "rounds"          // its rounds are used up
	CauseCutShort       Cause = "cut_short"       // a person cut the call short
	CauseHandedOver     Cause = "handed_over"     // the owner of the attempt let go of the run in good order
	CauseUnknownOutcome Cause = "unknown_outcome" // a tool call may or may not have taken effect
	CauseToolAsked      Cause = "tool_asked"      // a plugin wants a person asked about a tool that failed
	CauseCooling        Cause = "cooling"         // the run's default model is cooling down
	CauseGivenUp        Cause = "given_up"        // the caller gave up and asks nobody
	CauseForbidden      Cause = "forbidden"       // a plugin forbids the model that was to be asked
	CauseApproval       Cause = "approval"        // a person has to approve a tool call before it begins
)

// terminal reports whether the run's own time or budget is used up, so that a decision can only be
// offered, not carried out.
func (o *OpenFailure) terminal() bool {
	switch o.Cause {
	case CauseClock:
		return o.Failure.Timer != failure.TimerStep
	case CauseBudget, CauseDayBudget, CauseRounds:
		return true
	case CauseAttempt, CauseCutShort, CauseHandedOver, CauseUnknownOutcome, CauseToolAsked, CauseCooling, CauseGivenUp, CauseForbidden, CauseApproval:
	}
	return false
}
