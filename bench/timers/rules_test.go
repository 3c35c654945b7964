package timers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// everywhere plays a scenario over every wire and passes it to watch.
func everywhere(t *testing.T, who audience, sc func() scenario, watch func(p *playedRun)) {
	t.Helper()
	for _, e := range entries {
		if who.has(e) {
			t.Run(e.name, func(t *testing.T) { drive(t, e, sc, watch) })
		}
	}
}

// completes waits for the answer, and checks when it came.
func (p *playedRun) completes(text string, after time.Duration) {
	p.t.Helper()
	result, err := p.run.Wait(context.Background())
	if err != nil || result.Text != text || p.since() != after {
		p.t.Errorf("%q, %v after %s; want %q after %s", result.Text, err, p.since(), text, after)
	}
}

// expires waits for the failure with which a timer ends the run, and checks when it came.
func (p *playedRun) expires(timer failure.Timer, after time.Duration) failure.Failure {
	p.t.Helper()
	_, err := p.run.Wait(context.Background())
	f, ok := failure.AsFailure(err)
	if !ok || f.Timer != timer || p.since() != after {
		p.t.Errorf("%v after %s (%+v); want %s after %s", err, p.since(), f, timer, after)
		return failure.Failure{}
	}
	return *f
}

// quiet is a pause that every timer of a model call allows.
const quiet = 25 * time.Second

// TestReasoningIsProgress: a model that sends reasoning for five minutes, a word every 25 s, is
// never idle.
func TestReasoningIsProgress(t *testing.T) {
	thought := strings.Repeat("Hm, ", 12)
	everywhere(t, everybody, func() scenario {
		return scenario{turns: []turn{says(faultlab.Thinking(thought, faultlab.SlowAnswer("Fine.", quiet)))}}
	}, func(p *playedRun) {
		p.completes("Fine.", latency+13*quiet)
	})
}

// TestPingsAreNoProgress: if a model sends one thought and then only pings, the idle timer counts
// from the thought.
func TestPingsAreNoProgress(t *testing.T) {
	everywhere(t, elsewhere, func() scenario {
		return scenario{turns: []turn{{step: faultlab.Thinking("Hm.", faultlab.StallAfter("")), noise: ping}}}
	}, func(p *playedRun) {
		p.expires(failure.TimerIdle, latency+2*time.Minute)
	})
}

// TestASlowStreamIsHealthy: a stream with a token every 100 s, and pings between them, is never
// ended by the default timers, however long it takes.
func TestASlowStreamIsHealthy(t *testing.T) {
	const words = 100 // almost three hours
	text := strings.TrimSpace(strings.Repeat("slow ", words))
	first := faultlab.Thinking("Hm. ", faultlab.SlowAnswer(text, 100*time.Second))
	everywhere(t, elsewhere, func() scenario {
		// A stream begins within first_event on every wire but Gemini's, which sends no event
		// before the first words.
		return scenario{turns: []turn{{step: first, noise: ping}}, timers: recovery.Settings{failure.TimerFirstEvent: 0}}
	}, func(p *playedRun) {
		p.completes(text, latency+(words+1)*100*time.Second)
	})
}

// TestStepIsRearmedByFinishedStepsOnly: an answer and a tool's result re-arm it, tokens and
// reasoning do not.
func TestStepIsRearmedByFinishedStepsOnly(t *testing.T) {
	step := recovery.Settings{failure.TimerStep: 120_000}
	t.Run("tokens", func(t *testing.T) {
		everywhere(t, everybody, func() scenario {
			return scenario{timers: step, turns: []turn{says(faultlab.Thinking("Hm, hm. ", faultlab.SlowAnswer("one two three four five six", 20*time.Second)))}}
		}, func(p *playedRun) {
			if f := p.expires(failure.TimerStep, 2*time.Minute); f.LastStep != "" {
				p.t.Errorf("the last step is %q, want none", f.LastStep)
			}
			if text := p.state().Answer(); text != "one two three " {
				p.t.Errorf("the text that is kept: %q", text)
			}
		})
	})
	t.Run("steps", func(t *testing.T) {
		everywhere(t, everybody, func() scenario {
			look := says(faultlab.ToolCall("look", "{}"))
			return scenario{timers: step, turns: []turn{look, look, look, says(faultlab.Answer("Fine."))}, tools: []runner.Tool{takes("look", 110*time.Second)}}
		}, func(p *playedRun) {
			p.completes("Fine.", 3*(latency+110*time.Second)+latency)
		})
	})
}

// takes is a tool that returns after a while.
func takes(name string, d time.Duration) runner.Tool {
	return runner.Tool{Name: name, Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
		select {
		case <-time.After(d):
			return "done", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}}
}

// TestNothingRearmsTheTurnOrTheRun: neither tokens nor finished steps do.
func TestNothingRearmsTheTurnOrTheRun(t *testing.T) {
	for _, timer := range []failure.Timer{failure.TimerMaxTurn, failure.TimerRun} {
		t.Run(string(timer), func(t *testing.T) {
			everywhere(t, everybody, func() scenario {
				return scenario{
					turns: []turn{says(faultlab.ToolCall("look", "{}"))}, tools: []runner.Tool{takes("look", 110*time.Second)},
					timers: alone(timer, 10*time.Minute),
				}
			}, func(p *playedRun) {
				if f := p.expires(timer, 10*time.Minute); f.LastStep != "look" {
					p.t.Errorf("the last action is %q", f.LastStep)
				}
			})
		})
	}
}

// TestHooksAndWaitsAreNobodysIdleness: the step's timer is paused while a hook is asked and while
// the run waits on purpose; the turn's timer is not.
func TestHooksAndWaitsAreNobodysIdleness(t *testing.T) {
	slowly := func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		time.Sleep(1900 * time.Millisecond)
		return recovery.Vote{Action: recovery.ActionRetry, Delay: 50_000}, nil
	}
	turns := []turn{says(faultlab.Overloaded()), says(faultlab.Overloaded()), says(faultlab.Overloaded()), says(faultlab.Answer("Fine."))}
	const each = latency + 50*time.Second // the delay counts from the failure
	t.Run("step", func(t *testing.T) {
		everywhere(t, everybody, func() scenario {
			return scenario{turns: turns, auto: true, hook: slowly, timers: alone(failure.TimerStep, 5*time.Second)}
		}, func(p *playedRun) {
			p.completes("Fine.", 3*each+latency)
		})
	})
	t.Run("max_turn", func(t *testing.T) {
		everywhere(t, everybody, func() scenario {
			return scenario{turns: turns, auto: true, hook: slowly, timers: alone(failure.TimerMaxTurn, 2*time.Minute)}
		}, func(p *playedRun) {
			_, err := p.run.Wait(context.Background()) // the third wait would end after the turn
			failed, ok := errors.AsType[*runner.Error](err)
			if !ok || failed.Suggestion == nil || failed.Suggestion.BlockedBy != "max_turn" || p.since() != 2*each+latency+1900*time.Millisecond {
				p.t.Errorf("%v after %s", err, p.since())
			}
		})
	})
	t.Run("max_turn in a hook", func(t *testing.T) {
		everywhere(t, everybody, func() scenario {
			return scenario{turns: turns, auto: true, hook: slowly, timers: alone(failure.TimerMaxTurn, 2*time.Second)}
		}, func(p *playedRun) {
			// The turn ends while the hook is being asked, and the hook is asked once more about
			// that.
			p.expires(failure.TimerMaxTurn, 2*time.Second+1900*time.Millisecond)
			if n := p.asked(); n != 1 {
				p.t.Errorf("%d requests", n)
			}
		})
	})
}

// TestAnEndedTurnAsksOnce: about an expired max_turn or run the hook is asked once, and whatever it
// answers becomes at most a suggestion.
func TestAnEndedTurnAsksOnce(t *testing.T) {
	for _, timer := range []failure.Timer{failure.TimerMaxTurn, failure.TimerRun} {
		for _, action := range []recovery.Action{recovery.ActionRetry, recovery.ActionSwitchModel, recovery.ActionFail, recovery.ActionNone} {
			t.Run(string(timer)+"/"+string(action), func(t *testing.T) {
				everywhere(t, everybody, func() scenario {
					return scenario{
						turns: []turn{noHeaders}, auto: true, timers: alone(timer, time.Minute), models: []string{"other"},
						hook: func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
							return recovery.Vote{Action: action, NewModel: e.Alternatives[0].Model}, nil
						},
					}
				}, func(p *playedRun) {
					p.expires(timer, time.Minute)
					time.Sleep(time.Hour)
					if len(p.saw) != 1 || p.asked() != 1 {
						p.t.Errorf("asked %d times, %d requests", len(p.saw), p.asked())
					}
					offered := action != recovery.ActionFail // without an opinion the safe actions are
					if open := p.state().SuggestionOpen(); open != offered {
						p.t.Errorf("a suggestion is open: %v", open)
					}
				})
			})
		}
	}
}

// TestTheIdleBreaker: after five silences in a row, also if a person asked again between them, a
// retry of that model is neither made nor offered; a switch is offered.
func TestTheIdleBreaker(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{turns: []turn{noHeaders}, models: []string{"other"}, hook: retryAlways}
	}, func(p *playedRun) {
		run := p.run
		for n := 1; n < recovery.IdleBreakerAt; n++ {
			_, _ = run.Wait(context.Background())
			if got := p.saw[n-1]; got.IdleExpiries != n || got.IdleBreaker {
				p.t.Errorf("silence %d: the hook saw %d, breaker %v", n, got.IdleExpiries, got.IdleBreaker)
			}
			again, err := p.runner.Recover(p.t.Context(), run.ID(), runner.Answer{Action: recovery.ButtonRetry})
			if err != nil {
				p.t.Fatal(err)
			}
			run = again
		}
		_, _ = run.Wait(context.Background())
		if last := p.saw[len(p.saw)-1]; len(p.saw) != recovery.IdleBreakerAt || !last.IdleBreaker {
			p.t.Errorf("the hook saw %d failures, the last with the breaker %v", len(p.saw), last.IdleBreaker)
		}
		var kinds []string
		s := p.state().Suggestion
		for _, b := range s.Actions {
			kinds = append(kinds, b.Kind)
		}
		if got := strings.Join(kinds, " "); s.BlockedBy != "idle_breaker" || s.SuggestedAction != recovery.ActionSwitchModel || got != "switch_model stop" {
			p.t.Errorf("suggests %s, blocked by %q, offers %s", s.SuggestedAction, s.BlockedBy, got)
		}
	})
}

func retryAlways(context.Context, hooks.RunError) (recovery.Vote, error) {
	return recovery.Vote{Action: recovery.ActionRetry}, nil
}

// TestTheIdleBreakerWithAutoRecover: if more retries than silences are allowed, the fifth request
// is the last.
func TestTheIdleBreakerWithAutoRecover(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{turns: []turn{noHeaders}, auto: true, hook: retryAlways, change: func(p *recovery.Policy) { p.MaxRetries = 6 }}
	}, func(p *playedRun) {
		_, _ = p.run.Wait(context.Background())
		if n := p.asked(); n != recovery.IdleBreakerAt {
			p.t.Errorf("%d requests", n)
		}
		if end := p.state(); end.SuggestionOpen() || end.Open.Decision.BlockedBy != "idle_breaker" {
			p.t.Errorf("open %v, %+v", end.SuggestionOpen(), end.Open.Decision)
		}
	})
}

// TestAFinishedStepResetsTheIdleBreaker: four silences, a finished step, and four more silences are
// not five in a row.
func TestAFinishedStepResetsTheIdleBreaker(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		four := []turn{noHeaders, noHeaders, noHeaders, noHeaders}
		turns := append(append(append([]turn{}, four...), says(faultlab.ToolCall("look", "{}"))), append(four, says(faultlab.Answer("Fine.")))...)
		return scenario{
			turns: turns, auto: true, hook: retryAlways, tools: []runner.Tool{takes("look", time.Second)},
			change: func(p *recovery.Policy) { p.MaxRetries = 6 },
		}
	}, func(p *playedRun) {
		if _, err := p.run.Wait(context.Background()); err != nil || p.asked() != 10 {
			p.t.Errorf("%v after %d requests", err, p.asked())
		}
		var counts []int
		for _, e := range p.saw {
			counts = append(counts, e.IdleExpiries)
		}
		if want := []int{1, 2, 3, 4, 1, 2, 3, 4}; len(counts) != len(want) || counts[4] != 1 {
			p.t.Errorf("the hook saw %v, want %v", counts, want)
		}
	})
}
