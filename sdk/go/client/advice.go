package client

import (
	"context"
	"net/http"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// adviceTime is how long to wait for advice: if Mulligan is gone, the program goes on
// without it.
const adviceTime = 250 * time.Millisecond

// Failed is a failed model call that the program made itself.
type Failed struct {
	Call         string           `json:"call"`    // a name for the model call, unique to it
	Attempt      int              `json:"attempt"` // which of its attempts failed, from 0
	Model        string           `json:"model"`   // the one that failed, provider/model
	Tried        []TriedCall      `json:"tried,omitempty"`
	Alternatives []string         `json:"alternatives,omitempty"` // models that could be called instead, in order of preference
	AutoRecover  *bool            `json:"autoRecover,omitempty"`  // nil = as Mulligan is configured
	Failure      Evidence         `json:"failure"`
	PartialShown bool             `json:"partialShown,omitempty"` // people have seen a part of the answer: then nothing is repeated
	Tools        ToolsRan         `json:"tools,omitzero"`
	Budget       *recovery.Budget `json:"budget,omitempty"`
	SessionKey   string           `json:"sessionKey,omitempty"` // the caller's name for the conversation; passed to plugins
	AgentID      string           `json:"agentId,omitempty"`    // the caller's name for the agent; passed to plugins

	Aborted       bool   `json:"aborted,omitempty"`
	TimedOut      bool   `json:"timedOut,omitempty"`
	PromptError   string `json:"promptError,omitempty"`
	LastAssistant string `json:"lastAssistant,omitempty"` // passed to plugins that were granted it
}

// Evidence is what is known about a failure; each field may be missing.
type Evidence struct {
	Status    int               `json:"status,omitempty"` // the HTTP status
	Headers   map[string]string `json:"headers,omitempty"`
	Body      string            `json:"body,omitempty"`    // at most 64 KiB
	Message   string            `json:"message,omitempty"` // the library's error message
	Code      string            `json:"code,omitempty"`
	Exception string            `json:"exception,omitempty"` // the error's type
	When      failure.Phase     `json:"when,omitempty"`
	Kind      failure.Kind      `json:"kind,omitempty"` // if it is known for sure; "" = Mulligan finds out
}

// TriedCall is an earlier attempt of the call, about which no advice was asked.
type TriedCall struct {
	Attempt int            `json:"attempt"`
	Model   string         `json:"model"`
	Kind    failure.Kind   `json:"kind,omitempty"`
	Code    failure.Code   `json:"code,omitempty"`
	At      time.Time      `json:"at,omitzero"`
	Millis  failure.Millis `json:"ms,omitempty"`
}

// ToolsRan says what ran before the failure.
type ToolsRan struct {
	Ran    bool     `json:"ran,omitempty"`
	Unsafe []string `json:"unsafe,omitempty"` // those that must not run twice
}

// Advice is what to do about a failed call.
type Advice struct {
	Run                string               `json:"run"` // under which the call is in Mulligan's timeline
	Failure            failure.Failure      `json:"failure"`
	Decision           recovery.Decision    `json:"decision"`
	RecoverySuggestion *recovery.Suggestion `json:"recoverySuggestion"` // what to ask a person; nil = nothing
	Votes              []recovery.Vote      `json:"votes"`
}

// Acts reports whether the program should act on the decision: wait Decision.Delay, then call
// again, with Decision.NewModel if it is set. If not, the program should fail as it would without
// Mulligan.
func (a Advice) Acts() bool {
	goesOn := a.Decision.Action == recovery.ActionRetry || a.Decision.Action == recovery.ActionSwitchModel
	return goesOn && a.Decision.BlockedBy == "" && a.RecoverySuggestion == nil
}

// Outcome says how a call ended.
type Outcome struct {
	Call    string    `json:"call"`
	OK      bool      `json:"ok"` // there is an answer; otherwise the program gives up
	Failure *Evidence `json:"failure,omitempty"`
	Model   string    `json:"model,omitempty"` // the one that answered or failed; "" = the one that was to be asked
}

// Decide asks what to do about a failed model call that the program made itself. It asks only once
// and waits for at most 250 ms, unless ctx has a deadline. After any error the program should go
// on as it would without Mulligan.
func (c *Client) Decide(ctx context.Context, f Failed) (Advice, error) {
	var a Advice
	err := c.briefly(ctx, "/v1/decide", f, &a)
	return a, err
}

// Outcome reports how a call ended about which Decide was asked; after an answer its model no
// longer cools down. It fails with ErrNotFound if Decide was not asked.
func (c *Client) Outcome(ctx context.Context, o Outcome) error {
	return c.briefly(ctx, "/v1/outcome", o, nil)
}

// briefly makes a request for a caller that should not wait long.
func (c *Client) briefly(ctx context.Context, path string, in, out any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, adviceTime)
		defer cancel()
	}
	return c.once(ctx, http.MethodPost, path, nil, in, out)
}
