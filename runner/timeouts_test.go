package runner_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// perModel gives secondary more time than primary.
func perModel(model string, run recovery.Settings) recovery.Timeouts {
	own := recovery.Settings{failure.TimerBytes: 0, failure.TimerIdle: 5_000}
	if model == secondary {
		own = recovery.Settings{failure.TimerBytes: 0, failure.TimerIdle: 50_000, failure.TimerConnect: 20_000}
	}
	return recovery.ResolveTimeouts(recovery.DefaultPolicy().Timeouts, own, run)
}

// TestTimersOfEachModel: both models stall; each is given up after its own idle time,
// unless the run says otherwise.
func TestTimersOfEachModel(t *testing.T) {
	for name, tt := range map[string]struct {
		run    recovery.Settings
		idle   [2]time.Duration
		asksIn [2]time.Duration // how long the adapters may take to connect
	}{
		"their own": {
			idle: [2]time.Duration{5 * time.Second, 50 * time.Second}, asksIn: [2]time.Duration{10 * time.Second, 20 * time.Second},
		},
		"the run's": {
			run:  recovery.Settings{failure.TimerIdle: 7_000, failure.TimerConnect: 0},
			idle: [2]time.Duration{7 * time.Second, 7 * time.Second}, asksIn: [2]time.Duration{-1, -1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, two := script(stalls("It is")), script(stalls("It was"))
				r := runner.New(runner.WithModel(primary, one), runner.WithModel(secondary, two),
					runner.WithTimeoutsFor(perModel), runner.WithAutoRecover(true),
					runner.WithHook("h", advise(recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: secondary})))
				run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Timeouts: tt.run})
				if err != nil {
					t.Fatal(err)
				}
				_, _ = run.Wait(t.Context())
				state, err := r.Inspect(t.Context(), run.ID())
				if err != nil {
					t.Fatal(err)
				}
				for i, f := range state.Call.Tried[:2] {
					if f.Millis.Duration() != tt.idle[i] {
						t.Errorf("%s was given up after %s, not %s", f.Model, f.Millis.Duration(), tt.idle[i])
					}
				}
				if a, b := one.calls()[0].ConnectTimeout, two.calls()[0].ConnectTimeout; a != tt.asksIn[0] || b != tt.asksIn[1] {
					t.Errorf("they may connect for %s and %s", a, b)
				}
			})
		})
	}
}

// TestThePolicysTimersAreBuiltIn: what an embedder or a run sets wins over them.
func TestThePolicysTimersAreBuiltIn(t *testing.T) {
	policy := recovery.DefaultPolicy()
	policy.Models = []string{primary, secondary}
	policy.Timeouts.Idle = 90_000
	policy.ModelTimeouts = map[string]recovery.Timeouts{secondary: {Idle: 60_000, Bytes: 60_000}}
	r := runner.New(runner.WithModel(primary, script(answers("ok"))), runner.WithModel(secondary, script(answers("ok"))),
		runner.WithTimeouts(recovery.Settings{failure.TimerBytes: 45_000, failure.TimerRun: 7_200_000}))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Model: secondary, Policy: &policy, Timeouts: recovery.Settings{failure.TimerBytes: 30_000}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, err := r.Inspect(t.Context(), run.ID())
	if err != nil {
		t.Fatal(err)
	}
	for model, idle := range map[string]failure.Millis{primary: 90_000, secondary: 60_000} {
		if got := state.Policy.TimeoutsOf(model); got.Idle != idle || got.Bytes != 30_000 || got.Run != 7_200_000 || got.MaxTurn != got.Run {
			t.Errorf("%s: %+v", model, got)
		}
	}
	if policy.Timeouts.Idle != 90_000 || len(policy.ModelTimeouts) != 1 {
		t.Errorf("the caller's policy was changed: %+v", policy)
	}
}

func TestTimersOutOfRangeAreRefused(t *testing.T) {
	tooShort := recovery.Settings{failure.TimerIdle: 10}
	for want, tt := range map[string]struct {
		option  runner.Option
		request recovery.Settings
	}{
		"start run: timeouts: idle is too short (10ms): at least 1s, or 0 for off": {request: tooShort},
		"step is negative (-1ms); 0 is off":                                        {request: recovery.Settings{failure.TimerStep: -1}},
		"bytes is negative":                                                        {option: runner.WithPolicy(func(p *recovery.Policy) { p.Timeouts.Bytes = -1 })},
		"tool is longer than 31 days":                                              {option: runner.WithTimeoutsFor(func(string, recovery.Settings) recovery.Timeouts { return recovery.Timeouts{Tool: 1 << 40} })},
		`"idel" is not a timer; there are: first_event`:                            {request: recovery.Settings{"idel": 5000}},
		"idle is too short":                                                        {option: runner.WithTimeouts(tooShort)},
		"idle is too short (10ms): at least 20ms":                                  {option: runner.WithMinTimeout(20 * time.Millisecond), request: tooShort},
	} {
		options := []runner.Option{runner.WithModel(primary, script(answers("ok")))}
		if tt.option != nil {
			options = append(options, tt.option)
		}
		_, err := runner.New(options...).Start(t.Context(), runner.Request{Prompt: "hi", Timeouts: tt.request})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	r := runner.New(runner.WithModel(primary, script(answers("ok"))), runner.WithMinTimeout(time.Millisecond), runner.WithTimeouts(tooShort))
	if _, err := r.Run(t.Context(), "hi"); err != nil {
		t.Error(err)
	}
}
