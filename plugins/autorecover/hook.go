package autorecover

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/recovery"
)

// Name is what the policy calls itself.
const Name = "auto-recover"

// Hook is the policy in this process, with [DefaultConfig].
func Hook() hooks.Hook { return DefaultConfig().Hook() }

// Hook is the policy in this process. It draws the jitter and reads the clock for
// [Decide].
func (c Config) Hook() hooks.Hook {
	version := Version()
	return hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		vote := Decide(c, InputOf(e, time.Now()), rand.Float64())
		vote.Version = version
		return vote, nil
	})
}

// InputOf is the part of an event that Decide looks at.
func InputOf(e hooks.RunError, now time.Time) Input {
	return Input{
		Failure: e.Failure, Model: e.Model, Retries: e.Retries, MaxRetries: e.MaxRetries,
		AutoRecover: e.AutoRecover, IdleBreaker: e.IdleBreaker, Tried: e.Tried, Alternatives: e.Alternatives, Now: now,
	}
}

// Version is the version of the Mulligan that the policy comes with.
func Version() string { return build.Version() }
