package rules

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// Name is what the plugin calls itself.
const Name = "rules"

// Serve answers a host until it goes away.
func Serve() {
	p := &policy{keeper: newMemory(), telling: make(chan struct{}, maxTelling)}
	if kept, err := plugin.HostValues(); err == nil {
		p.keeper = kept
	}
	plugin.Serve(plugin.Func(p.runError), plugin.WithBeforeCall(p.beforeCall),
		plugin.WithName(Name), plugin.WithVersion(build.Version()),
		plugin.WithConfigSchema(string(schema)), plugin.WithConfig(p.configure))
}

// policy is the configured rules.
type policy struct {
	rules   atomic.Pointer[Rules] // nil until it is configured
	told    sync.Map              // of *rule: its error was logged
	keeper  keeper                // stores the counters
	telling chan struct{}         // one for each message in progress
}

func (p *policy) configure(raw json.RawMessage) error {
	rs, err := ParseConfig(raw)
	if err != nil {
		return err
	}
	p.rules.Store(rs)
	return nil
}

// runError draws the jitter and counts, for decide.
func (p *policy) runError(ctx context.Context, e plugin.Event) (plugin.Decision, error) {
	rs := p.rules.Load()
	if rs == nil {
		return plugin.None, nil
	}
	f := factsOf(e)
	p.count(ctx, rs, f, e.Pressed == "")
	o := rs.decide(f, rand.Float64()) //nolint:gosec // jitter is not a secret
	p.log(plugin.Log(ctx), rs, o.Notes)
	p.tell(plugin.Log(ctx), rs, o.Tells, e.Run, e.Session, e.DryRun)
	return decision(o.Vote), nil
}

// beforeCall is asked if the occasions in the plugin's entry include before_call.
func (p *policy) beforeCall(ctx context.Context, c plugin.Call) (plugin.Verdict, error) {
	rs := p.rules.Load()
	if rs == nil || len(rs.Gates) == 0 {
		return plugin.Verdict{}, nil
	}
	f := callFacts(c)
	p.count(ctx, rs, f, false)
	o := rs.judge(f)
	p.log(plugin.Log(ctx), rs, o.Notes)
	p.tell(plugin.Log(ctx), rs, o.Tells, c.Run, c.Session, c.DryRun)
	return plugin.Verdict{Action: o.Vote.Action, Model: o.Vote.NewModel, Until: o.Vote.Until, Reason: o.Vote.Reason}, nil
}

func (p *policy) count(ctx context.Context, rs *Rules, f *Facts, counts bool) {
	if err := rs.count(ctx, p.keeper, f, counts); err != nil {
		plugin.Log(ctx).Warn("what was counted is not known", "err", err)
	}
}

// tell sends messages without waiting for them. A dry run sends none.
func (p *policy) tell(logger *slog.Logger, rs *Rules, tells []telling, run, session string, dryRun bool) {
	for _, t := range tells {
		i := slices.IndexFunc(rs.receivers, func(w receiver) bool { return w.name == t.to })
		if i < 0 || dryRun {
			continue
		}
		select {
		case p.telling <- struct{}{}:
		default:
			logger.Warn("too many messages are under way: one is dropped", "webhook", t.to)
			continue
		}
		to, m := rs.receivers[i], t.message
		m.Run, m.Session = run, session
		go func() {
			defer func() { <-p.telling }()
			ctx, cancel := context.WithTimeout(context.Background(), tellTries*tellTime)
			defer cancel()
			if err := to.tell(ctx, m); err != nil {
				logger.Warn("nobody was told", "rule", m.Rule, "err", err)
			}
		}()
	}
}

// log reports once per rule why it cannot be evaluated.
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
		Restrict: v.Restrict,
	}
}
