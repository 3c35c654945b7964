package hooks

import (
	"context"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// Hook gives advice. Advise may be called by several goroutines at once and should return soon
// after ctx is done. A vote with ActionNone is "no opinion", which a hook also gives about an
// occasion that it does not know. An error says why there is no opinion. Dispatch sets the vote's
// Plugin, Shadow and Latency.
type Hook interface {
	Advise(ctx context.Context, about Occasion) (recovery.Vote, error)
}

// Starter is a Hook that may have to be started, such as a plugin's process. Dispatch calls Start
// before Advise, and its time does not count towards that of the answer. Start returns immediately
// if there is nothing to start, or if nothing can be started now; Advise then says so. An error
// says why there is no opinion.
type Starter interface {
	Start(ctx context.Context) error
}

// Func makes a Hook for failures from a function.
type Func func(ctx context.Context, e RunError) (recovery.Vote, error)

// Advise calls f with a failure. It has no opinion about any other occasion.
func (f Func) Advise(ctx context.Context, about Occasion) (recovery.Vote, error) {
	e, ok := about.(RunError)
	if !ok {
		return recovery.Vote{}, nil
	}
	return f(ctx, e)
}

// Named is a hook with the name that the configuration gives it.
type Named struct {
	Name   string
	Hook   Hook
	Shadow bool // it is on trial: its votes are recorded, but never count
	// Occasions are the hooks that it takes; nil = only recovery.HookRunError.
	Occasions []string
	// FailClosed: a model call about which it gives no valid answer does not begin.
	FailClosed bool
}

// Takes reports whether n is asked about occasions of that hook.
func (n Named) Takes(hook string) bool {
	if n.Occasions == nil {
		return hook == recovery.HookRunError
	}
	return slices.Contains(n.Occasions, hook)
}
