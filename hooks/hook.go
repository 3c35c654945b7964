package hooks

import (
	"context"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// Hook gives advice. Advise may be called by several goroutines at once and should return soon
// after ctx is done. A vote with ActionNone is "no opinion", which a hook also gives about an
// occasion that it does not know; an error says why there is no opinion. Dispatch fills in
// Plugin, Shadow and Latency of the vote.
type Hook interface {
	Advise(ctx context.Context, about Occasion) (recovery.Vote, error)
}

// Starter is a Hook that may have to be started, such as a plugin's process. Dispatch calls Start
// before Advise, and its time does not count towards the answer's. Start returns at once if there
// is nothing to start, or nothing can be started now; Advise then says so. An error says why
// there is no opinion.
type Starter interface {
	Start(ctx context.Context) error
}

// Func makes a Hook for failures from a function.
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
	Shadow bool // it is on trial: its votes are recorded, but never count
	// Occasions are the hooks that it takes; nil = recovery.HookRunError alone.
	Occasions []string
	// FailClosed: a model call that it gives no valid answer about does not begin.
	FailClosed bool
}

// Takes reports whether it is asked about occasions of that hook.
func (n Named) Takes(hook string) bool {
	if n.Occasions == nil {
		return hook == recovery.HookRunError
	}
	return slices.Contains(n.Occasions, hook)
}
