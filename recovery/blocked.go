package recovery

import (
	"strings"

	"github.com/mulligan-run/mulligan/failure"
)

// The values of Decision.BlockedBy and Suggestion.BlockedBy. Others are the kind of a failure that
// is itself a limit of the run, and the name of the clock that would expire during a wait.
const (
	blockedCrashes     = "crash_loop"
	blockedAttempts    = "max_attempts"
	blockedFailures    = "max_failed_attempts"
	blockedRetries     = "max_retries"
	blockedHopeless    = "not_retryable"
	blockedDelay       = "max_delay"
	blockedIdle        = "idle_breaker"
	blockedCompact     = "compaction"
	blockedCompactions = "max_compactions"
	blockedShown       = "shown"
	blockedCaller      = "caller_waits"
	blockedMistake     = "caller_mistake"
)

// limits has the wording of each limit.
var limits = map[string]string{
	blockedCrashes:     "the run was interrupted too often in a row",
	blockedAttempts:    "this model call has had all its attempts",
	blockedFailures:    "too many attempts of this run have failed",
	blockedRetries:     "all retries are used up",
	blockedHopeless:    "the same request would fail again",
	blockedDelay:       "the wait would be longer than 7 days",
	blockedIdle:        "the model went silent too often",
	blockedCompact:     "the conversation cannot be made shorter",
	blockedCompactions: "the conversation has been shortened as often as it may be",
	blockedShown:       "its caller has seen a part of the answer, which cannot be withdrawn",
	blockedCaller:      "its caller would wait for more than a minute",
	blockedMistake:     "its caller is told by the provider what is wrong with the request, and asks otherwise",

	string(failure.KindBudget):      "the budget is used up",
	string(failure.KindRoundLimit):  "the run has had all its rounds",
	string(failure.KindMaxTurnTime): "the time for this turn is up",
	string(failure.KindRunTimeout):  "the time for this run is up",
	string(failure.TimerMaxTurn):    "the wait would go beyond the time for this turn",
	string(failure.TimerRun):        "the wait would go beyond the time for this run",
}

// LimitInWords gives the wording of blockedBy, to follow "because": "all retries are used up". A
// limit that this version does not know is given by its name.
func LimitInWords(blockedBy string) string {
	if said, ok := limits[blockedBy]; ok {
		return said
	}
	return strings.ReplaceAll(blockedBy, "_", " ")
}
