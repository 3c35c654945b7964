package runner

import (
	"context"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// crowded is what is known about models where each has to wait for its turn.
type crowded struct{ Health }

func (crowded) Turn(string) time.Duration { return time.Hour }

// TestWhatHoldsAnEffect asks the one question of loops for which several reasons hold: the
// first of them is given, and what does not concern an effect does not hold it.
func TestWhatHoldsAnEffect(t *testing.T) {
	call := recovery.Effect{Key: "call/1", Call: &recovery.CallModel{Intent: recovery.Began{Model: "a/b"}}}
	opened := recovery.Effect{Key: "call/1", Call: &recovery.CallModel{Intent: recovery.Began{Model: "a/b"}, InAir: true}}
	summary := recovery.Effect{Key: "summary/1", Summarise: &recovery.Summarise{}}
	tool := recovery.Effect{Key: "tool/1", Tool: &recovery.RunTool{}}
	ask := recovery.Effect{Key: "ask/1", Ask: &recovery.AskPlugins{}}
	timer := func(of failure.Timer) recovery.Effect {
		return recovery.Effect{Key: "timer/1", Timer: &recovery.SetTimer{At: time.Now().Add(time.Hour), Write: recovery.Due{Timer: of}}}
	}
	failed := recovery.Effect{Record: recovery.Ended{Status: recovery.StatusFailed}}
	completed := recovery.Effect{Record: recovery.Ended{Status: recovery.StatusCompleted}}

	shadows := func(l *loop) { l.shadows.out = 1 }
	asking := func(l *loop) { l.air["call/0"] = &job{asks: true, stopping: true} }
	crowd := func(l *loop) { l.r.health = crowded{l.r.health} }
	slept := func(l *loop) { l.clock.slept = func() time.Duration { return time.Minute } }
	day := func(l *loop) { l.run.Policy.DayBudget.Tokens = 1 }
	parked := func(l *loop) { l.run.Wait = &recovery.Waiting{Until: time.Now().Add(time.Hour)} }

	for name, c := range map[string]struct {
		effect recovery.Effect
		states []func(*loop)
		want   reason
	}{
		"nothing":                        {call, nil, ""},
		"another call ends first":        {call, []func(*loop){asking, crowd, slept, day}, reasonOneModel},
		"even before one that is opened": {opened, []func(*loop){asking, crowd, slept, day}, reasonOneModel},
		"the turn":                       {call, []func(*loop){crowd, slept, day}, reasonTurn},
		"one that is opened has had it":  {opened, []func(*loop){crowd, slept, day}, ""},
		"the sleep":                      {call, []func(*loop){slept, day}, reasonSlept},
		"the day":                        {call, []func(*loop){day}, reasonDay},
		"a summary has no turn":          {summary, []func(*loop){crowd, day}, reasonDay},
		"nor two at a time":              {summary, []func(*loop){asking}, reasonOneModel},
		"a tool asks no model":           {tool, []func(*loop){asking, crowd, day, shadows}, ""},
		"but may come too late":          {tool, []func(*loop){slept}, reasonSlept},
		"plugins are asked at once":      {ask, []func(*loop){asking, crowd, slept, day, shadows, parked}, ""},
		"shadows vote before the end":    {failed, []func(*loop){shadows, slept}, reasonShadows},
		"not before a good one":          {completed, []func(*loop){shadows}, ""},
		"what is concluded has its time": {completed, []func(*loop){slept}, reasonSlept},
		"a suggestion is not waited for": {timer(failure.TimerExpiry), nil, reasonParked},
		"nor a long wait":                {timer(failure.TimerWait), []func(*loop){parked}, reasonParked},
		"but the shadows before it":      {timer(failure.TimerWait), []func(*loop){parked, shadows}, reasonShadows},
		"a short one is":                 {timer(failure.TimerWait), []func(*loop){shadows}, ""},
		"and the clocks of a run are":    {timer(failure.TimerRun), []func(*loop){parked, shadows}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(WithHealth(health.New()), WithSleep(func() time.Duration { return 0 }))
			l := r.newLoop(&recovery.Run{}, "r1", timeline.Lease{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l.work = ctx
			for _, state := range c.states {
				state(l)
			}
			h := l.held(l.run, c.effect)
			if h.why != c.want {
				t.Errorf("held by %q, not by %q", h.why, c.want)
			}
			if h.why == reasonSlept != (h.first != nil) {
				t.Errorf("to be written first: %v", h.first)
			}
			l.errands.done(time.Minute)
		})
	}
}
