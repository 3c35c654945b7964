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

// TestCancel has a person cancel in each situation: the run is cancelled within 2 s, keeps
// its text, asks no hook because of that and suggests nothing.
func TestCancel(t *testing.T) {
	hello := "Hello "
	for _, tt := range []struct {
		name  string
		scene func() scene
		after time.Duration // the run's start
		text  string        // that is kept
		asked int           // calls of the hook before the cancel
	}{
		{name: "no connection", scene: turns(noConnection), after: 5 * time.Second},
		{name: "connection, no headers", scene: turns(noHeaders), after: 20 * time.Second},
		{name: "headers, no body", scene: turns(noBody), after: 20 * time.Second},
		{name: "pings for ever", scene: turns(onlyPings), after: 25 * time.Second},
		{name: "one byte every 10 s", scene: turns(onlyDrops), after: 25 * time.Second},
		{name: "one token, then silence", scene: turns(token), after: 20 * time.Second, text: hello},
		{name: "one token, a moment before", scene: turns(token), after: latency + time.Millisecond, text: hello},
		{name: "one token, then pings for ever", scene: turns(tokenPings), after: 100 * time.Second, text: hello},
		{name: "one token, then one byte every 10 s", scene: turns(tokenDrops), after: 100 * time.Second, text: hello},
		{name: "a tool that listens", scene: withTool(false), after: time.Minute, text: "Let me look. "},
		{name: "a tool that is deaf", scene: withTool(true), after: time.Minute, text: "Let me look. "},
		{name: "a hook that listens", scene: withHook(false), after: latency + time.Second, asked: 1},
		{name: "a hook that is deaf", scene: withHook(true), after: latency + time.Second, asked: 1},
		{name: "a wait in process", scene: turns(limitedFor(50 * time.Second)), after: 20 * time.Second, asked: 1},
		{name: "a wait, parked", scene: turns(limitedFor(2 * time.Hour)), after: time.Hour, asked: 1},
		{name: "no network", scene: offline, after: 5 * time.Minute, asked: 1},
	} {
		for _, auto := range []bool{false, true} {
			mode := map[bool]string{false: "off", true: "on"}[auto]
			if tt.asked > 0 && !auto && tt.name != "a hook that listens" && tt.name != "a hook that is deaf" {
				continue // it would have settled before
			}
			t.Run(tt.name+"/"+mode, func(t *testing.T) {
				everywhere(t, everybody, func() scene {
					sc := tt.scene()
					sc.auto = auto
					return sc
				}, func(p *performance) {
					time.Sleep(tt.after)
					p.cancelled(tt.text, tt.asked)
				})
			})
		}
	}
}

func turns(list ...turn) func() scene { return func() scene { return scene{turns: list} } }

func withTool(deaf bool) func() scene {
	return func() scene {
		return scene{
			turns: []turn{says(faultlab.ToolCalls("Let me look. ", faultlab.Call{Name: "web_search"}))},
			tools: []runner.Tool{stuckTool("web_search", deaf)},
		}
	}
}

func withHook(deaf bool) func() scene {
	return func() scene { return scene{turns: []turn{says(faultlab.Overloaded())}, hook: silentHook(deaf)} }
}

func offline() scene {
	return scene{turns: []turn{{dial: refused}}, online: offlineFor(time.Hour)}
}

// cancelled cancels the run, also one that is parked, and looks at what is left.
func (p *performance) cancelled(text string, asked int) {
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
