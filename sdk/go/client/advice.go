package client

import (
	"context"
	"net/http"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// adviceTime is how long is waited for advice: a program whose Mulligan is gone goes on as
// without it.
const adviceTime = 250 * time.Millisecond

// Failed is a model call that the program made itself, and that failed.
type Failed struct {
	Call         string           `json:"call"`    // a name for the model call, another one for each
	Attempt      int              `json:"attempt"` // which of its attempts failed, from 0
	Model        string           `json:"model"`   // provider/model
	Tried        []TriedCall      `json:"tried,omitempty"`
	Alternatives []string         `json:"alternatives,omitempty"` // models that could be called instead, in order of preference
	AutoRecover  *bool            `json:"autoRecover,omitempty"`  // nil = as Mulligan is configured
	Failure      Evidence         `json:"failure"`
	PartialShown bool             `json:"partialShown,omitempty"` // people have seen a part of the answer: nothing is repeated then
	Tools        ToolsRan         `json:"tools,omitzero"`
	Budget       *recovery.Budget `json:"budget,omitempty"`
	SessionKey   string           `json:"sessionKey,omitempty"` // what the caller calls the conversation; plugins are told
	AgentID      string           `json:"agentId,omitempty"`    // what the caller calls the agent; plugins are told

	Aborted       bool   `json:"aborted,omitempty"`
	TimedOut      bool   `json:"timedOut,omitempty"`
	PromptError   string `json:"promptError,omitempty"`
	LastAssistant string `json:"lastAssistant,omitempty"` // for plugins that were granted it
}

// Evidence is what is known of a failure; each field may be missing.
type Evidence struct {
	Status    int               `json:"status,omitempty"` // of HTTP
	Headers   map[string]string `json:"headers,omitempty"`
	Body      string            `json:"body,omitempty"`    // at most 64 KiB
	Message   string            `json:"message,omitempty"` // what the library says of it
	Code      string            `json:"code,omitempty"`
	Exception string            `json:"exception,omitempty"` // the type of the error
	When      failure.Phase     `json:"when,omitempty"`
	Kind      failure.Kind      `json:"kind,omitempty"` // what it is for sure; "" = Mulligan finds out
}

// TriedCall is an attempt of a call that was not asked about when it failed.
type TriedCall struct {
	Attempt int            `json:"attempt"`
	Model   string         `json:"model"`
	Kind    failure.Kind   `json:"kind,omitempty"`
	Code    failure.Code   `json:"code,omitempty"`
	At      time.Time      `json:"at,omitzero"`
	Millis  failure.Millis `json:"ms,omitempty"`
}

// ToolsRan says what ran before a failure.
type ToolsRan struct {
	Ran    bool     `json:"ran,omitempty"`
	Unsafe []string `json:"unsafe,omitempty"` // those that must not run twice
}

// Advice is what to do about a failed call.
type Advice struct {
	Run                string               `json:"run"` // that the call is in Mulligan's timeline
	Failure            failure.Failure      `json:"failure"`
	Decision           recovery.Decision    `json:"decision"`
	RecoverySuggestion *recovery.Suggestion `json:"recoverySuggestion"` // what a person is to be asked, nil for nothing
	Votes              []recovery.Vote      `json:"votes"`
}

// Acts reports whether the program is to act on the decision: to wait Decision.Delay, and to call
// again, Decision.NewModel where there is one. Else it fails as without Mulligan.
func (a Advice) Acts() bool {
	goesOn := a.Decision.Action == recovery.ActionRetry || a.Decision.Action == recovery.ActionSwitchModel
	return goesOn && a.Decision.BlockedBy == "" && a.RecoverySuggestion == nil
}

// Outcome says how a call went on.
type Outcome struct {
	Call    string    `json:"call"`
	OK      bool      `json:"ok"` // there is an answer; else the program gives up
	Failure *Evidence `json:"failure,omitempty"`
	Model   string    `json:"model,omitempty"` // that answered or failed; "" = the one that was to be asked
}

// Decide asks what to do about a model call that the program made itself. It asks once, and unless
// ctx has a deadline of its own for 250 ms at the most: whatever its error, the program goes on
// as without Mulligan.
func (c *Client) Decide(ctx context.Context, f Failed) (Advice, error) {
	var a Advice
	err := c.briefly(ctx, "/v1/decide", f, &a)
	return a, err
}

// Outcome tells how a call went on that was asked about, so that its model cools down no more
// where there is an answer. It fails with ErrNotFound where nobody has asked.
func (c *Client) Outcome(ctx context.Context, o Outcome) error {
	return c.briefly(ctx, "/v1/outcome", o, nil)
}

// briefly makes a request whose caller has better things to do than to wait.
func (c *Client) briefly(ctx context.Context, path string, in, out any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, adviceTime)
		defer cancel()
	}
	return c.once(ctx, http.MethodPost, path, nil, in, out)
}
