package timers

import (
	"context"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestSeveralTimersAtOnce: of several timers that are due at the same moment the turn's is named
// first, then the step's, then the run's. With the defaults a turn may take as long as the run, so
// this is what happens after 48 h.
func TestSeveralTimersAtOnce(t *testing.T) {
	const two = failure.Millis(120_000)
	for name, tt := range map[string]struct {
		set  recovery.Settings
		want failure.Timer
	}{
		"all":               {recovery.Settings{failure.TimerMaxTurn: two, failure.TimerStep: two, failure.TimerRun: two}, failure.TimerMaxTurn},
		"max_turn and run":  {recovery.Settings{failure.TimerMaxTurn: two, failure.TimerRun: two}, failure.TimerMaxTurn},
		"max_turn and step": {recovery.Settings{failure.TimerMaxTurn: two, failure.TimerStep: two}, failure.TimerMaxTurn},
		"step and run":      {recovery.Settings{failure.TimerStep: two, failure.TimerRun: two, failure.TimerMaxTurn: 0}, failure.TimerStep},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, everybody, func() scenario {
				set := alone(failure.TimerConnect, 10*time.Second)
				for timer, limit := range tt.set {
					set[timer] = limit
				}
				return scenario{turns: []turn{tokenPings}, timers: set}
			}, func(p *playedRun) {
				_, _ = p.run.Wait(context.Background())
				if all := p.failures(); all[0].Timer != tt.want || p.since() != 2*time.Minute {
					p.t.Errorf("%v after %s, want %s", all, p.since(), tt.want)
				}
			})
		})
	}
}
