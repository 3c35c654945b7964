package recovery

import "time"

// Held is what keeps a run from going on.
type Held struct {
	By    HeldBy    `json:"by"`
	Limit string    `json:"limit,omitempty"` // the name of that limit, if By is HeldByLimit
	Needs Labels    `json:"needs,omitempty"` // the labels of the machine that it waits for, if By is HeldByMachine
	Until time.Time `json:"until,omitzero"`  // when it goes on by itself; zero if that is not known
}

// HeldBy says why a run does not go on.
type HeldBy string

// The reasons.
const (
	HeldByPerson    HeldBy = "person"     // a person is asked what to do
	HeldByLimit     HeldBy = "limit"      // a limit of the run, which a person may lift
	HeldByDayBudget HeldBy = "day_budget" // the budget of the day for all runs is used up
	HeldByTime      HeldBy = "time"       // a wait before a retry or a switch
	HeldByReset     HeldBy = "reset"      // parked until a reset: no process drives it meanwhile
	HeldByNetwork   HeldBy = "network"    // this computer is offline
	HeldByStore     HeldBy = "store"      // its store takes no events
	HeldByCaller    HeldBy = "caller"     // the caller that asked for advice, until it goes on
	HeldByTool      HeldBy = "tool"       // a tool call that the program which started the run carries out
	HeldByMachine   HeldBy = "machine"    // there is no machine that has what the run needs: see Situation.Stranded
)

// held says what keeps r from going on; nil if nothing does.
func (r *Run) held() *Held {
	if r.SuggestionOpen() {
		return r.heldBySuggestion()
	}
	if r.Wait == nil || r.cancelled {
		return nil
	}
	h := &Held{Until: r.Wait.Until}
	switch r.Wait.For {
	case WaitTime:
		h.By = HeldByTime
	case WaitReset:
		h.By = HeldByReset
	case WaitNetwork:
		h.By = HeldByNetwork
	case WaitStore:
		h.By = HeldByStore
	case WaitCaller:
		h.By = HeldByCaller
	case WaitTool:
		h.By = HeldByTool
	}
	return h
}

func (r *Run) heldBySuggestion() *Held {
	h := &Held{By: HeldByPerson}
	switch r.Open.Cause {
	case CauseDayBudget:
		h.By, h.Limit = HeldByDayBudget, r.Open.Failure.Variant
	case CauseClock, CauseBudget, CauseRounds:
		h.By, h.Limit = HeldByLimit, string(r.Open.Failure.Kind)
	case CauseAttempt, CauseCutShort, CauseHandedOver, CauseUnknownOutcome, CauseToolAsked, CauseCooling, CauseGivenUp:
		if r.Suggestion.BlockedBy != "" {
			h.By, h.Limit = HeldByLimit, r.Suggestion.BlockedBy
		}
	}
	return h
}
