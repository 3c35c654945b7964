package timers

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// settleLimit is how long a cancelled run may take to settle (spec §2).
const settleLimit = 2 * time.Second

// TestCancel cancels in each situation: the run is cancelled within 2 s, keeps its text, asks no
// hook because of the cancel, and suggests nothing.
func TestCancel(t *testing.T) {
	hello := "Hello "
	for _, tt := range []struct {
		name     string
		scenario func() scenario
		after    time.Duration // since the run's start
		text     string        // that is kept
		asked    int           // calls of the hook before the cancel
	}{
		{name: "no connection", scenario: turns(noConnection), after: 5 * time.Second},
		{name: "connection, no headers", scenario: turns(noHeaders), after: 20 * time.Second},
		{name: "headers, no body", scenario: turns(noBody), after: 20 * time.Second},
		{name: "pings for ever", scenario: turns(onlyPings), after: 25 * time.Second},
		{name: "one byte every 10 s", scenario: turns(onlyDrops), after: 25 * time.Second},
		{name: "one token, then silence", scenario: turns(token), after: 20 * time.Second, text: hello},
		{name: "one token, a moment before", scenario: turns(token), after: latency + time.Millisecond, text: hello},
		{name: "one token, then pings for ever", scenario: turns(tokenPings), after: 100 * time.Second, text: hello},
		{name: "one token, then one byte every 10 s", scenario: turns(tokenDrops), after: 100 * time.Second, text: hello},
		{name: "a tool that can be cancelled", scenario: withTool(false), after: time.Minute, text: "Let me look. "},
		{name: "a tool that ignores cancellation", scenario: withTool(true), after: time.Minute, text: "Let me look. "},
		{name: "a hook that can be cancelled", scenario: withHook(false), after: latency + time.Second, asked: 1},
		{name: "a hook that ignores cancellation", scenario: withHook(true), after: latency + time.Second, asked: 1},
		{name: "a wait in process", scenario: turns(limitedFor(50 * time.Second)), after: 20 * time.Second, asked: 1},
		{name: "a wait, parked", scenario: turns(limitedFor(2 * time.Hour)), after: time.Hour, asked: 1},
		{name: "no network", scenario: offline, after: 5 * time.Minute, asked: 1},
	} {
		for _, auto := range []bool{false, true} {
			mode := map[bool]string{false: "off", true: "on"}[auto]
			if tt.asked > 0 && !auto && tt.name != "a hook that can be cancelled" && tt.name != "a hook that ignores cancellation" {
				continue // it would have settled before
			}
			t.Run(tt.name+"/"+mode, func(t *testing.T) {
				everywhere(t, everybody, func() scenario {
					sc := tt.scenario()
					sc.auto = auto
					return sc
				}, func(p *playedRun) {
					time.Sleep(tt.after)
					p.cancelled(tt.text, tt.asked)
				})
			})
		}
	}
}

func turns(list ...turn) func() scenario { return func() scenario { return scenario{turns: list} } }

func withTool(ignoresContext bool) func() scenario {
	return func() scenario {
		return scenario{
			turns: []turn{says(faultlab.ToolCalls("Let me look. ", faultlab.Call{Name: "web_search"}))},
			tools: []runner.Tool{stuckTool("web_search", ignoresContext)},
		}
	}
}

func withHook(ignoresContext bool) func() scenario {
	return func() scenario {
		return scenario{turns: []turn{says(faultlab.Overloaded())}, hook: silentHook(ignoresContext)}
	}
}

func offline() scenario {
	return scenario{turns: []turn{{dial: refused}}, online: offlineFor(time.Hour)}
}

// cancelled cancels the run, parked or not, and checks what is left.
func (p *playedRun) cancelled(text string, asked int) {
	p.t.Helper()
	requests, at := p.asked(), time.Now()
	if err := p.runner.Cancel(p.t.Context(), p.run.ID()); err != nil {
		p.t.Error(err)
	}
	took := time.Since(at)
	state := p.state()
	if took > settleLimit || state.Status != recovery.StatusCancelled || state.End.StopReason != "cancelled" {
		p.t.Errorf("%s after %s", state.Status, took)
	}
	if _, err := p.run.Wait(context.Background()); !errors.Is(err, runner.ErrCancelled) && !errors.Is(err, runner.ErrParked) {
		p.t.Errorf("the run's error is %v", err)
	}
	time.Sleep(24 * time.Hour)
	state = p.state()
	if state.Answer() != text {
		p.t.Errorf("the text is %q, want %q", state.Answer(), text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.saw) != asked || p.asked() != requests || state.Suggestion != nil {
		p.t.Errorf("%d calls of the hook, %d requests after it, suggestion %+v", len(p.saw), p.asked()-requests, state.Suggestion)
	}
	if n := len(p.failures()); n != asked {
		p.t.Errorf("%d failures, want %d", n, asked)
	}
}
