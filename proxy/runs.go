package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// ErrStore says that a call did not begin because the store does not write now.
var ErrStore = errors.New("the store does not write")

// Runs is what the proxy needs of the core.
type Runs interface {
	// Call runs a call until it settles or ctx ends, which cancels it. A run that could still be
	// recovered is closed, since its caller is told of the failure. The failure is nil if there is
	// an answer. An error, which is for the caller, such as an unknown model, says that the run did
	// not begin; ErrStore, that the store is to blame.
	Call(ctx context.Context, c Call) (*failure.Failure, error)
	// Local reports whether a model is on this machine.
	Local(model string) bool
}

// Call is what the run of a call begins with.
type Call struct {
	Models      []string // the first is asked first
	Request     llm.Request
	Asked       *recovery.Digest // of the request's body
	Delivery    recovery.Delivery
	Keep        recovery.Keeping
	AutoRecover bool
	SessionKey  string
	Caller      Caller
	// Begun is called with the run's id before Caller hears anything, and does not wait for it.
	Begun func(run string)
	// Suggested, unless nil, is told when a person is asked. The run then waits for the answer,
	// for AskFor at most.
	Suggested func(s recovery.Suggestion)
	AskFor    time.Duration
}

// Caller hears the attempts of its call; see runner.Caller and runner.Continuing, which say when.
type Caller interface {
	GoesOn(attempt uint64, model string)
	Began(attempt uint64, model string)
	Heard(ctx context.Context, attempt uint64, d llm.Delta) error
	Failed(attempt uint64, err error)
	Shown(attempt uint64) recovery.Shown
}
