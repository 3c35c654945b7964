package server

import (
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// mostStall is how long a stream may stall while another program waits for it: that program
// has timers, too, and most are short.
const mostStall = 40 * time.Second

// clocks are shorter timers for proxied calls, unless somebody set the timer. A model that is
// known for long silences keeps its own timers.
func (p *proxyCalls) clocks(models []string) recovery.Settings {
	if p.models.thinksSilently(models[0]) || slices.ContainsFunc(models, p.models.local) {
		return nil
	}
	for _, model := range models {
		for _, layer := range p.config.TimeoutLayers(model, nil) {
			if _, set := layer.Set[failure.TimerBytes]; set {
				return nil
			}
		}
	}
	return recovery.Settings{failure.TimerBytes: failure.InMillis(mostStall)}
}
