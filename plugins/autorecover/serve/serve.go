package serve

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// Serve answers a host until it goes away.
func Serve() {
	p := newPolicy()
	plugin.Serve(plugin.Func(p.runError),
		plugin.WithName(autorecover.Name), plugin.WithVersion(autorecover.Version()),
		plugin.WithConfigSchema(string(autorecover.Schema)), plugin.WithConfig(p.configure))
}

// policy is Decide with the configuration from the host.
type policy struct {
	config atomic.Pointer[autorecover.Config]
}

func newPolicy() *policy {
	p, c := &policy{}, autorecover.DefaultConfig()
	p.config.Store(&c)
	return p
}

func (p *policy) configure(raw json.RawMessage) error {
	c, err := autorecover.ParseConfig(raw)
	if err != nil {
		return err
	}
	p.config.Store(&c)
	return nil
}

// runError draws the jitter and reads the clock for Decide.
func (p *policy) runError(_ context.Context, e plugin.Event) (plugin.Decision, error) {
	return decision(autorecover.Decide(*p.config.Load(), inputOf(e, time.Now()), rand.Float64())), nil
}

func inputOf(e plugin.Event, now time.Time) autorecover.Input {
	return autorecover.Input{
		Failure: e.Failure, Model: e.Model, Retries: e.Retries, MaxRetries: e.MaxRetries,
		AutoRecover: e.AutoRecover, IdleBreaker: e.IdleBreaker, Tried: e.Tried, Alternatives: e.Models, Now: now,
	}
}

func decision(v recovery.Vote) plugin.Decision {
	return plugin.Decision{
		Action: v.Action, Delay: v.Delay.Duration(), NewModel: v.NewModel, Reason: v.Reason, Adjust: v.Adjust,
	}
}
