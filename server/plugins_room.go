package server

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/tally"
)

// listPlugins are the plugins of this process.
func (s *Runs) listPlugins() []gateway.Plugin {
	if s.app.Plugins == nil {
		return nil
	}
	now := s.app.now()
	votes, since := s.app.tally.Votes(now), s.app.tally.Since(now)
	var list []gateway.Plugin
	for _, st := range s.app.Plugins.Statuses() {
		p := listedPlugin(st)
		p.Said = s.app.Plugins.Said(st.Name)
		if v, ok := votes[st.Name]; ok {
			p.Votes = votesOf(v, since)
		}
		list = append(list, p)
	}
	return list
}

func listedPlugin(st host.Status) gateway.Plugin {
	p := gateway.Plugin{
		Name: st.Name, Version: st.Version, State: string(st.State), LastError: words.Clip(st.LastError, 500),
		Shadow: st.Labels[LabelShadow] != "", Pinned: st.Pinned, FailClosed: st.FailClosed, Restarts: st.Restarts, P50: int64(st.P50), P99: int64(st.P99),
	}
	if d := st.Disabled; d != nil {
		p.Disabled = &gateway.DisabledBy{By: d.By, At: d.At}
	}
	return p
}

func votesOf(v tally.Votes, since time.Time) *gateway.PluginVotes {
	return &gateway.PluginVotes{
		Since: since, Won: v.Won, Agreed: v.Agreed, Overruled: v.Overruled, Silent: v.Silent, Failed: v.Failed,
		TrialAgreed: v.TrialAgreed, TrialDisagreed: v.TrialDisagreed,
	}
}

// actOnPlugin implements gateway.Config's Plugin.
func (s *Runs) actOnPlugin(ctx context.Context, name string, act gateway.PluginAct, by string) (err error) {
	if s.app.Plugins == nil {
		return gateway.ErrNoPlugin
	}
	switch act {
	case gateway.PluginRestart:
		err = s.app.Plugins.Restart(ctx, name, by)
	case gateway.PluginDisable:
		err = s.app.Plugins.Disable(name, by)
	case gateway.PluginEnable:
		err = s.app.Plugins.Enable(ctx, name, by)
	}
	if errors.Is(err, host.ErrNoPlugin) {
		return gateway.ErrNoPlugin
	}
	return secrets.Error(err) // it may have what the plugin said last
}
