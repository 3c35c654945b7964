package server

import (
	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// TimeoutsOf are the timers of a model.
func (m *Models) TimeoutsOf(c *config.Config, model string, run recovery.Settings) recovery.Timeouts {
	builtIn, _ := m.builtInTimeouts(model)
	var layers []recovery.Settings
	for _, layer := range c.TimeoutLayers(model, run) {
		layers = append(layers, layer.Set)
	}
	return recovery.ResolveTimeouts(builtIn, layers...)
}

// builtInTimeouts are a model's timers if nobody set any, and why they differ from the usual
// ones.
func (m *Models) builtInTimeouts(model string) (t recovery.Timeouts, why string) {
	const longest = failure.Millis(300_000)
	t = recovery.DefaultPolicy().Timeouts
	switch {
	case m.local(model): // it may have to load a model first, and sends no pings
		t.FirstEvent, t.Bytes, t.Idle = longest, longest, 0
		return t, "is one of a local model server"
	case m.thinksSilently(model): // it is silent until it has finished thinking
		t.FirstEvent, t.Idle = longest, longest
		return t, "thinks silently"
	}
	return t, ""
}
