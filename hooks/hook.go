package hooks

import (
	"context"

	"github.com/mulligan-run/mulligan/recovery"
)

// Hook gives advice. Advise may be called by several goroutines at once and should
// return soon after ctx is done; a vote with ActionNone is "no opinion", which is what a hook
// says of an occasion that it does not know. An error says why there is none. Of the vote,
// Plugin, Shadow and Latency are filled in by Dispatch.
type Hook interface {
	Advise(ctx context.Context, about Occasion) (recovery.Vote, error)
}

// Starter is a Hook that may have to be started, such as a plugin's process. Dispatch calls
// Start before Advise, and what it takes does not count against the time for the answer.
// Start returns at once where nothing is to be started, or not now; Advise then says so.
// An error is why there is no opinion.
type Starter interface {
	Start(ctx context.Context) error
}

// Func makes a function a Hook that gives advice about failures.
type Func func(ctx context.Context, e RunError) (recovery.Vote, error)

// Advise calls f with a failure.
func (f Func) Advise(ctx context.Context, about Occasion) (recovery.Vote, error) {
	e, ok := about.(RunError)
	if !ok {
		return recovery.Vote{}, nil
	}
	return f(ctx, e)
}

// Named is a hook under the name that the configuration gives it.
type Named struct {
	Name   string
	Hook   Hook
	Shadow bool // it is asked on trial: its votes are recorded, and never count
}
