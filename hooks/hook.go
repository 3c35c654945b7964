package hooks

import (
	"context"

	"github.com/mulligan-run/mulligan/recovery"
)

// Hook gives advice about failures. RunError may be called by several goroutines
// at once and should return soon after ctx is done; a vote with ActionNone is "no
// opinion". An error says why there is none. Of the vote, Plugin, Shadow and
// Latency are filled in by Dispatch.
type Hook interface {
	RunError(ctx context.Context, e RunError) (recovery.Vote, error)
}

// Starter is a Hook that may have to be started, such as a plugin's process. Dispatch calls
// Start before RunError, and what it takes does not count against the time for the answer.
// Start returns at once where nothing is to be started, or not now; RunError then says so.
// An error is why there is no opinion.
type Starter interface {
	Start(ctx context.Context) error
}

// Func makes a function a Hook.
type Func func(ctx context.Context, e RunError) (recovery.Vote, error)

// RunError calls f.
func (f Func) RunError(ctx context.Context, e RunError) (recovery.Vote, error) { return f(ctx, e) }

// Named is a hook under the name that the configuration gives it.
type Named struct {
	Name   string
	Hook   Hook
	Shadow bool // it is asked on trial: its votes are recorded, and never count
}
