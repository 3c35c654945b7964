package hooks

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// How much of a hook's own text a vote may hold, in bytes.
const (
	MaxError  = 2 << 10
	maxReason = 500
)

// CallDeadline is how long a hook may take over a call that is about to begin, unless Deadlines say
// otherwise.
const CallDeadline = 500 * time.Millisecond

// Deadlines bound a dispatch; zero fields mean the defaults.
type Deadlines struct {
	Start time.Duration // a Starter's start, 10 s by default
	Each  time.Duration // one hook's answer, 2 s by default
	All   time.Duration // the answers of all of them, 5 s by default
	Call  time.Duration // one hook's answer about a call that is about to begin, 500 ms by default
}

func (d Deadlines) orDefaults() Deadlines {
	if d.Start <= 0 {
		d.Start = 10 * time.Second
	}
	if d.Each <= 0 {
		d.Each = 2 * time.Second
	}
	if d.All <= 0 {
		d.All = 5 * time.Second
	}
	if d.Call <= 0 {
		d.Call = CallDeadline
	}
	return d
}

// of is how long one hook may take over an occasion.
func (d Deadlines) of(about Occasion) time.Duration {
	if about != nil && about.Hook() == recovery.HookBeforeCall {
		return min(d.Call, d.Each, d.All)
	}
	return min(d.Each, d.All)
}

// Dispatch asks all hooks at the same time and returns when each has voted. It calls voted from its
// own goroutine, once for each hook, in the order in which they answer, after Start and All at the
// latest. A hook that fails, panics or does not answer in time votes with Error set. An answer
// after the deadline is dropped; if the hook never returns, neither does the goroutine that asked
// it.
func Dispatch(ctx context.Context, hooks []Named, about Occasion, d Deadlines, voted func(recovery.Vote)) {
	d = d.orDefaults()
	votes := make(chan recovery.Vote, len(hooks))
	for _, hook := range hooks {
		go func() { votes <- ask(ctx, hook, about, d) }()
	}
	for range hooks {
		voted(<-votes)
	}
}

type answer struct {
	vote recovery.Vote
	err  error
}

func ask(ctx context.Context, hook Named, about Occasion, d Deadlines) recovery.Vote {
	if starter, ok := hook.Hook.(Starter); ok {
		start := func(ctx context.Context) (recovery.Vote, error) { return recovery.Vote{}, starter.Start(ctx) }
		if v := within(ctx, hook, start, d.Start, "not started"); v.Error != "" {
			return v
		}
	}
	advise := func(ctx context.Context) (recovery.Vote, error) { return hook.Hook.Advise(ctx, about) }
	return within(ctx, hook, advise, d.of(about), "no answer")
}

// within calls do for a hook, with a deadline; missed is the error if the hook misses it.
func within(ctx context.Context, hook Named, do func(context.Context) (recovery.Vote, error), deadline time.Duration, missed string) recovery.Vote {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	answers := make(chan answer, 1)
	go func() { answers <- call(ctx, do) }()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if errors.Is(a.err, context.DeadlineExceeded) && ctx.Err() != nil {
		a.err = fmt.Errorf("%s within %v", missed, time.Since(began).Round(time.Millisecond))
	}
	return sanitise(a, hook, began)
}

func call(ctx context.Context, do func(context.Context) (recovery.Vote, error)) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	vote, err := do(ctx)
	return answer{vote, err}
}

// sanitise turns whatever a hook answered into a vote that can be stored. It keeps who answered
// even if there is an error.
func sanitise(a answer, hook Named, began time.Time) recovery.Vote {
	v := a.vote
	if a.err != nil {
		v.Error = a.err.Error()
	}
	if v.Error != "" {
		v = recovery.Vote{Version: v.Version, Hash: v.Hash, PID: v.PID, Error: v.Error}
	}
	v.Action = v.Action.Plain()
	v.Plugin, v.Shadow, v.Latency = hook.Name, hook.Shadow, since(began)
	v.Error, v.Reason = words.Clip(v.Error, MaxError), words.Clip(v.Reason, maxReason)
	return v
}
