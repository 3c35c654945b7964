package rules

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// Name is what the plugin calls itself.
const Name = "rules"

// Serve answers a host until it goes away.
func Serve() {
	p := &policy{}
	plugin.Serve(plugin.Func(p.runError),
		plugin.WithName(Name), plugin.WithVersion(version()),
		plugin.WithConfigSchema(string(schema)), plugin.WithConfig(p.configure))
}

// version is that of the program which the plugin is built into.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// policy is the configured rules.
type policy struct {
	rules atomic.Pointer[Rules] // nil until it is configured
	told  sync.Map              // of *Rule: what went wrong with it was logged
}

func (p *policy) configure(raw json.RawMessage) error {
	rs, err := ParseConfig(raw)
	if err != nil {
		return err
	}
	p.rules.Store(rs)
	return nil
}

// runError draws the dice, which Decide does not.
func (p *policy) runError(ctx context.Context, e plugin.Event) (plugin.Decision, error) {
	rs := p.rules.Load()
	if rs == nil {
		return plugin.None, nil
	}
	o := rs.decide(factsOf(e), rand.Float64()) //nolint:gosec // chance keeps runs apart, nothing is secret
	p.log(plugin.Log(ctx), rs, o.Notes)
	return decision(o.Vote), nil
}

// log tells once per rule what keeps it from being evaluated.
func (p *policy) log(logger *slog.Logger, rs *Rules, notes []note) {
	for _, n := range notes {
		if errors.Is(n.Err, errNoModel) {
			continue
		}
		if _, told := p.told.LoadOrStore(n.Rule, true); !told {
			logger.Warn("a rule cannot be evaluated", "rule", n.Rule.String(), "file", rs.File, "line", n.Rule.Line, "err", n.Err)
		}
	}
}

func decision(v recovery.Vote) plugin.Decision {
	return plugin.Decision{
		Action: v.Action, Delay: v.Delay.Duration(), NewModel: v.NewModel, Reason: v.Reason, Actions: v.Actions, Adjust: v.Adjust,
	}
}
