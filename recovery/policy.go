package recovery

import "github.com/mulligan-run/mulligan/failure"

// Limits that hold whatever a policy or a plugin says (spec §5).
const (
	MaxAttemptsPerCall    = 6                   // attempts of one model call, switches included
	MaxAttemptsInAll      = 8                   // of one model call, with the last round that its patience has
	MaxFailedAttempts     = 20                  // failed attempts of one run
	MinDelay              = failure.Millis(250) // before any attempt after the second
	MaxInProcessWait      = failure.Millis(60_000)
	IdleBreakerAt         = 5 // idle expiries in a row without a finished step
	MaxInterruptedCrashes = 3 // crashes while resuming end the run
	MaxToolTries          = 2 // runs of one idempotent tool call after crashes
	maxPresses            = 5 // of a plugin's own buttons about one failure, by whomever
)

// Policy is what a run may do. Started pins it.
type Policy struct {
	AutoRecover bool     `json:"autoRecover"`
	Models      []string `json:"models,omitempty"`  // the allow-list for switching, in order of preference
	Plugins     []string `json:"plugins,omitempty"` // who is asked, in order of precedence
	MaxRetries  int      `json:"maxRetries"`        // of one model call
	// MaxRounds is how many model calls may ask for tools; 0 = as many as they like.
	MaxRounds int `json:"maxRounds,omitempty"`
	// ParallelTools is how many tool calls of an answer run side by side; 0 = all of them.
	ParallelTools int      `json:"parallelTools,omitempty"`
	Timeouts      Timeouts `json:"timeouts"` // of the run, and of its model's calls
	// StepCountsText has text that streams re-arm the step's clock, which else only a
	// finished step does.
	StepCountsText bool   `json:"stepCountsText,omitempty"`
	Budget         Budget `json:"budget,omitzero"` // zero fields are unlimited
	// DayBudget is what all runs of a day may use together; only a shell knows what the
	// others have used, see Run.OverDay.
	DayBudget Budget           `json:"dayBudget,omitzero"`
	Prices    map[string]Price `json:"prices,omitempty"`
	// Local are those of Models that are on this machine.
	Local []string `json:"local,omitempty"`
	// ModelTimeouts is what the calls of a model run under where that is not Timeouts,
	// by its full name: connect, first_event, bytes and idle.
	ModelTimeouts map[string]Timeouts `json:"modelTimeouts,omitempty"`
	// SuggestionTTL is how long a suggestion stays open.
	SuggestionTTL   failure.Millis `json:"suggestionTtlMs"`
	MaxOutputTokens int            `json:"maxOutputTokens,omitempty"`
	// CompactionModel sums up old turns of a conversation that became too long; "" = the
	// model that is asked next.
	CompactionModel string `json:"compactionModel,omitempty"`

	Calls    CallOwner `json:"calls,omitempty"`    // who makes the model calls
	Tools    ToolOwner `json:"tools,omitempty"`    // who carries out the tool calls of an answer
	Delivery Delivery  `json:"delivery,omitempty"` // how whoever asked gets the answer
	Keep     Keeping   `json:"keep,omitempty"`     // what of the run's contents is durable
}

// Budget counts what a run may use and, in Run.Spent, what it has used.
//
// A call is counted when it begins, by what its input is worth and its output may be at the
// most, where that is limited; once it is over, by what its provider says. No call begins
// that would exceed the budget.
type Budget struct {
	Tokens       int64 `json:"tokens,omitempty"`
	Microdollars int64 `json:"microdollars,omitempty"`
}

// Price is what a million tokens of a model cost, in microdollars. What is read from a
// cache, or written to one, costs as much as other input where its own price is zero.
type Price struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead,omitempty"`
	CacheWrite int64 `json:"cacheWrite,omitempty"`
}

// The parts of a budget, as a failure's variant names them.
const (
	partTokens = "tokens"
	partMoney  = "money"
)

// DefaultPolicy is spec §3's and §5's defaults: recovery is offered, not done.
func DefaultPolicy() Policy {
	const second, minute, hour = failure.Millis(1000), failure.Millis(60_000), failure.Millis(3_600_000)
	return Policy{
		MaxRetries: 3,
		MaxRounds:  100, ParallelTools: 16,
		Timeouts: Timeouts{
			Connect: 10 * second, FirstEvent: 30 * second, Bytes: 60 * second, Idle: 120 * second,
			MaxTurn: 48 * hour, Run: 48 * hour, Tool: 10 * minute, ProgressAfter: 30 * second,
			Patience: 30 * second,
		},
		SuggestionTTL: 24 * hour,
	}
}

// limited reports whether there is a budget at all.
func (b Budget) limited() bool { return b.Tokens > 0 || b.Microdollars > 0 }

// Lacks names the part of the budget that has no room for a call: what is spent has used
// it up, or the call's reservation would exceed it. It is "" where the call may begin.
func (b Budget) Lacks(spent, reserve Budget) string {
	if part := b.exhausted(spent); part != "" {
		return part
	}
	return b.exceeded(spent.Plus(reserve))
}

// exceeded names the part of the budget that is smaller than spent, or "".
func (b Budget) exceeded(spent Budget) string {
	switch {
	case b.Tokens > 0 && spent.Tokens > b.Tokens:
		return partTokens
	case b.Microdollars > 0 && spent.Microdollars > b.Microdollars:
		return partMoney
	}
	return ""
}

// exhausted names the part of the budget that spent has used up, or "".
func (b Budget) exhausted(spent Budget) string {
	switch {
	case b.Tokens > 0 && spent.Tokens >= b.Tokens:
		return partTokens
	case b.Microdollars > 0 && spent.Microdollars >= b.Microdollars:
		return partMoney
	}
	return ""
}
