package recovery

import "github.com/mulligan-run/mulligan/failure"

// Limits that hold whatever a policy or a plugin says (spec §5).
const (
	MaxAttemptsPerCall    = 6                   // attempts of one model call, including switches
	MaxAttemptsInAll      = 8                   // attempts of one model call, including its last round
	MaxFailedAttempts     = 20                  // failed attempts of one run
	MinDelay              = failure.Millis(250) // before any attempt after the second
	MaxInProcessWait      = failure.Millis(60_000)
	IdleBreakerAt         = 5 // idle expiries in a row without a finished step
	MaxInterruptedCrashes = 3 // after this many crashes in a row without a finished step a person is asked
	MaxToolTries          = 2 // runs of one idempotent tool call after crashes
	maxPresses            = 5 // presses of plugins' own buttons about one failure, by any person
)

// Policy is what a run may do. Started pins it.
type Policy struct {
	AutoRecover bool     `json:"autoRecover"`
	Models      []string `json:"models,omitempty"`  // allowed models, in order of preference when switching
	Plugins     []string `json:"plugins,omitempty"` // the plugins that are asked, in order of precedence
	// BeforeCall lists the plugins that are asked before every model call, in order; nil = none.
	BeforeCall []Gatekeeper `json:"beforeCall,omitempty"`
	// ToolError lists the plugins that are asked about tools that failed, in order; nil = none.
	ToolError  []string `json:"toolError,omitempty"`
	MaxRetries int      `json:"maxRetries"` // of one model call
	// MaxRounds is how many model calls may ask for tools; 0 = any number.
	MaxRounds int `json:"maxRounds,omitempty"`
	// ParallelTools is how many tool calls of an answer run at the same time; 0 = all of them.
	ParallelTools int      `json:"parallelTools,omitempty"`
	Timeouts      Timeouts `json:"timeouts"` // of the run, and of its model's calls
	// StepCountsText says that streamed text resets the step's clock, which otherwise only a
	// finished step does.
	StepCountsText bool   `json:"stepCountsText,omitempty"`
	Budget         Budget `json:"budget,omitzero"` // zero fields are unlimited
	// DayBudget is what all runs of a day may use together. Only a shell knows what the others have
	// used; see Run.OverDay.
	DayBudget Budget           `json:"dayBudget,omitzero"`
	Prices    map[string]Price `json:"prices,omitempty"`
	// Local lists those of Models that run on this machine.
	Local []string `json:"local,omitempty"`
	// ModelTimeouts holds, by full model name, the timers of a model's calls that differ from
	// Timeouts: connect, first_event, bytes and idle.
	ModelTimeouts map[string]Timeouts `json:"modelTimeouts,omitempty"`
	// SuggestionTTL is how long a suggestion stays open.
	SuggestionTTL   failure.Millis `json:"suggestionTtlMs"`
	MaxOutputTokens int            `json:"maxOutputTokens,omitempty"`
	// CompactionModel sums up old turns of a conversation that became too long; "" = the model that
	// is asked next.
	CompactionModel string `json:"compactionModel,omitempty"`

	Calls    CallOwner `json:"calls,omitempty"`    // who makes the model calls
	Tools    ToolOwner `json:"tools,omitempty"`    // who carries out the tool calls of an answer
	Delivery Delivery  `json:"delivery,omitempty"` // how the caller gets the answer
	Keep     Keeping   `json:"keep,omitempty"`     // which of the run's contents are durable
}

// Budget counts what a run may use and, in Run.Spent, what it has used.
//
// A call is counted when it begins: the size of its input, and its output limit if it has one. When
// it is over, what its provider reports replaces that. No call begins that would exceed the budget.
type Budget struct {
	Tokens       int64 `json:"tokens,omitempty"`
	Microdollars int64 `json:"microdollars,omitempty"`
}

// Price is the price of a million tokens of a model, in microdollars. Tokens read from a cache, or
// written to one, cost as much as other input if their own price is zero.
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

// DefaultPolicy has the defaults of spec §3 and §5: recovery is offered, not carried out
// automatically.
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

// Lacks names the part of the budget that has no room for a call: it is used up, or the call's
// reservation would exceed it. It is "" if the call may begin.
func (b Budget) Lacks(spent, reserve Budget) string {
	if part := b.exhausted(spent); part != "" {
		return part
	}
	return b.exceeded(spent.Plus(reserve))
}

// exceeded names the part of the budget that is smaller than spent; "" if none is.
func (b Budget) exceeded(spent Budget) string {
	switch {
	case b.Tokens > 0 && spent.Tokens > b.Tokens:
		return partTokens
	case b.Microdollars > 0 && spent.Microdollars > b.Microdollars:
		return partMoney
	}
	return ""
}

// exhausted names the part of the budget that spent has used up; "" if there is none.
func (b Budget) exhausted(spent Budget) string {
	switch {
	case b.Tokens > 0 && spent.Tokens >= b.Tokens:
		return partTokens
	case b.Microdollars > 0 && spent.Microdollars >= b.Microdollars:
		return partMoney
	}
	return ""
}
