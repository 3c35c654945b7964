package autorecover

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// Name is what the plugin calls itself.
const Name = "auto-recover"

// Serve answers a host until it goes away.
func Serve() {
	p := newPolicy()
	plugin.Serve(plugin.Func(p.runError),
		plugin.WithName(Name), plugin.WithVersion(version()),
		plugin.WithConfigSchema(string(Schema)), plugin.WithConfig(p.configure))
}

// version is that of the program which the plugin is built into.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// policy is Decide with the configuration that the host handed over.
type policy struct{ config atomic.Pointer[Config] }

func newPolicy() *policy {
	p, c := &policy{}, DefaultConfig()
	p.config.Store(&c)
	return p
}

func (p *policy) configure(raw json.RawMessage) error {
	c, err := ParseConfig(raw)
	if err != nil {
		return err
	}
	p.config.Store(&c)
	return nil
}

// runError draws the dice and reads the clock, which Decide does not.
func (p *policy) runError(_ context.Context, e plugin.Event) (plugin.Decision, error) {
	return decision(Decide(*p.config.Load(), inputOf(e, time.Now()), rand.Float64())), nil
}

func inputOf(e plugin.Event, now time.Time) Input {
	return Input{
		Failure: e.Failure, Model: e.Model, Retries: e.Retries, MaxRetries: e.MaxRetries,
		AutoRecover: e.AutoRecover, IdleBreaker: e.IdleBreaker, Tried: e.Tried, Alternatives: e.Models, Now: now,
	}
}

func decision(v recovery.Vote) plugin.Decision {
	return plugin.Decision{
		Action: v.Action, Delay: v.Delay.Duration(), NewModel: v.NewModel, Reason: v.Reason, Adjust: v.Adjust,
	}
}
