package recovery

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// Action is what to do about a failure.
type Action string

// The actions. The zero value is "no opinion".
const (
	ActionNone        Action = ""
	ActionRetry       Action = "retry"
	ActionSwitchModel Action = "switch_model"
	ActionFail        Action = "fail"

	// ActionApprove stands in a suggestion that asks a person to approve a tool call. No plugin can
	// say it.
	ActionApprove Action = "approve"
)

// actionSwitch is the original contract's word for ActionSwitchModel. It is accepted, but never
// written.
const actionSwitch Action = "switch"

// Plain is a as it is written: the original contract's "switch" becomes switch_model.
func (a Action) Plain() Action {
	if a == actionSwitch {
		return ActionSwitchModel
	}
	return a
}

// UnmarshalText reads an action, also in the words of the original contract.
func (a *Action) UnmarshalText(text []byte) error {
	*a = Action(text).Plain()
	return nil
}

// Vote is what one plugin said about an occasion, or why it said nothing. A vote is advice, except
// for what it forbids; see Decide and Restrict.
type Vote struct {
	Plugin   string         `json:"plugin"`
	Version  string         `json:"version,omitempty"`
	Hash     string         `json:"hash,omitempty"` // of the executable that answered, hex SHA-256
	PID      int            `json:"pid,omitempty"`  // of the process that answered
	Latency  failure.Millis `json:"latencyMs"`
	Action   Action         `json:"action,omitempty"`
	Delay    failure.Millis `json:"delayMs,omitempty"`
	NewModel string         `json:"newModel,omitempty"`
	Until    time.Time      `json:"until,omitzero" proto:"-"`  // of a hold: when to ask again
	Words    string         `json:"words,omitempty" proto:"-"` // of a tell: for the model
	Reason   string         `json:"reason,omitempty"`          // for people
	Actions  []Button       `json:"actions,omitempty"`
	Adjust   Adjust         `json:"adjust,omitzero"`
	Restrict *Restrict      `json:"restrict,omitempty"` // what it forbids, whatever anybody advises, itself included; nil = nothing
	Error    string         `json:"error,omitempty"`    // why it has no opinion: timed out, crashed, invalid answer, …
	Shadow   bool           `json:"shadow,omitempty"`   // asked on trial: recorded, but never counted
}

// Adjust is what changes in the next attempt, since an unchanged retry cannot help with every kind
// of failure. Zero fields change nothing.
type Adjust struct {
	Compact         bool   `json:"compact,omitempty"`
	MaxOutputTokens int    `json:"maxOutputTokens,omitempty"`
	ReasoningEffort string `json:"reasoningEffort,omitempty"` // low, medium, high
	// Continue asks to continue the partial answer. If that is impossible the attempt starts over.
	Continue bool `json:"continue,omitempty"`
}

// Decision is what will be done about a failure, by whose advice, and why.
type Decision struct {
	Action    Action         `json:"action,omitempty"`
	Delay     failure.Millis `json:"delayMs,omitempty"`         // after all limits were applied
	NewModel  string         `json:"newModel,omitempty"`        // of a refusal: the model that is not asked
	Until     time.Time      `json:"until,omitzero" proto:"-"`  // of a hold
	Words     string         `json:"words,omitempty" proto:"-"` // of a tell: what the model is told
	Reason    string         `json:"reason,omitempty"`
	Actions   []Button       `json:"actions,omitempty"`
	Adjust    Adjust         `json:"adjust,omitzero"`
	By        *Voter         `json:"by,omitempty"`        // nil = nobody had an opinion
	LastRound bool           `json:"lastRound,omitempty"` // it belongs to the last round of the call's patience
	BlockedBy string         `json:"blockedBy,omitempty"` // the limit that keeps the runner from carrying it out
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
	// The remaining fields are for plugins, from the run's policy; events leave them out.
	Price *Price `json:"price,omitempty"` // nil = not known
	Local bool   `json:"local,omitempty"` // it runs on this machine
	// What only the process that asks knows; see package hooks.
	Lacks       []string     `json:"lacks,omitempty"`       // what it does not accept: images, tools, schema
	CoolsUntil  time.Time    `json:"coolsUntil,omitzero"`   // it is cooling down until then; zero = it is not
	CoolingKind failure.Kind `json:"coolingKind,omitempty"` // the kind of the failure that made it cool down
	Health      string       `json:"health,omitempty"`      // how its last call ended: well, failing, or "" for not known
}

// RecentCall is how a model call ended.
type RecentCall struct {
	Model string       `json:"model"`
	Kind  failure.Kind `json:"kind"` // of its failure; "" = it was answered
	At    time.Time    `json:"at"`
}
