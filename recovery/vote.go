package recovery

import "github.com/mulligan-run/mulligan/failure"

// Action is what to do about a failure.
type Action string

// The actions. The zero value is "no opinion".
const (
	ActionNone        Action = ""
	ActionRetry       Action = "retry"
	ActionSwitchModel Action = "switch_model"
	ActionFail        Action = "fail"
)

// actionSwitch is what the original contract calls ActionSwitchModel. It is read, and not written.
const actionSwitch Action = "switch"

// Plain is a in the words that are written: "switch" of the original contract is switch_model.
func (a Action) Plain() Action {
	if a == actionSwitch {
		return ActionSwitchModel
	}
	return a
}

// UnmarshalText reads an action in the words of the original contract too.
func (a *Action) UnmarshalText(text []byte) error {
	*a = Action(text).Plain()
	return nil
}

// Vote is what one plugin said about a failure, or why it said nothing. A vote is
// advice, but for what it forbids; see Decide and Restrict.
type Vote struct {
	Plugin   string         `json:"plugin"`
	Version  string         `json:"version,omitempty"`
	Hash     string         `json:"hash,omitempty"` // of the executable that answered, hex SHA-256
	PID      int            `json:"pid,omitempty"`  // of the process that answered
	Latency  failure.Millis `json:"latencyMs"`
	Action   Action         `json:"action,omitempty"`
	Delay    failure.Millis `json:"delayMs,omitempty"`
	NewModel string         `json:"newModel,omitempty"`
	Reason   string         `json:"reason,omitempty"` // for people
	Actions  []Button       `json:"actions,omitempty"`
	Adjust   Adjust         `json:"adjust,omitzero"`
	Restrict *Restrict      `json:"restrict,omitempty"` // what it forbids, whatever is advised, itself included; nil = nothing
	Error    string         `json:"error,omitempty"`    // why there is no opinion: timed out, crashed, invalid answer, …
	Shadow   bool           `json:"shadow,omitempty"`   // it was asked on trial: this is recorded, and never counts
}

// Adjust is what the next attempt changes, since an unchanged retry cannot help
// every kind of failure. Zero fields change nothing.
type Adjust struct {
	Compact         bool   `json:"compact,omitempty"`
	MaxOutputTokens int    `json:"maxOutputTokens,omitempty"`
	ReasoningEffort string `json:"reasoningEffort,omitempty"` // low, medium, high
	// Continue: it goes on from the partial answer; where nothing can, it begins anew.
	Continue bool `json:"continue,omitempty"`
}

// Decision is what will be done about a failure, by whose advice, and why.
type Decision struct {
	Action    Action         `json:"action,omitempty"`
	Delay     failure.Millis `json:"delayMs,omitempty"` // after every limit was applied
	NewModel  string         `json:"newModel,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Actions   []Button       `json:"actions,omitempty"`
	Adjust    Adjust         `json:"adjust,omitzero"`
	By        *Voter         `json:"by,omitempty"`        // nil = nobody had an opinion
	LastRound bool           `json:"lastRound,omitempty"` // it is of the round at the end of the call's patience
	BlockedBy string         `json:"blockedBy,omitempty"` // the limit that keeps the runner from acting on it
	Ignored   []string       `json:"ignored,omitempty"`   // "plugin: why its answer did not count"
}

// Voter is the plugin whose vote won.
type Voter struct {
	Plugin  string         `json:"plugin"`
	Version string         `json:"version,omitempty"`
	Hash    string         `json:"hash,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Millis  failure.Millis `json:"ms"`
	Rank    int            `json:"rank"` // position in the configured order, from 0
}

// Alternative is a model that the run could be switched to.
type Alternative struct {
	Model         string `json:"model"`
	ContextTokens int64  `json:"contextTokens,omitempty"` // 0 = not known
	// What follows is told to plugins, from the run's policy; events leave it out.
	Price *Price `json:"price,omitempty"` // nil = not known
	Local bool   `json:"local,omitempty"` // it is on this machine
}
