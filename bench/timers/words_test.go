package timers

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestTheWordsOfAStuckTask: a search that does not return.
func TestTheWordsOfAStuckTask(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{turns: searches, tools: []runner.Tool{stuckTool("web_search", false)}, timers: recovery.Settings{failure.TimerStep: 120_000}}
	}, func(p *playedRun) {
		f := p.expires(failure.TimerStep, latency+2*time.Minute)
		const want = "No progress for 2 min. Last action: web_search. The task may be stuck. Retry, or ask for a simpler approach."
		if f.Line() != want || f.LastStep != "web_search" || f.LastStepElapsed != 120_000 || f.Elapsed != 120_000 {
			p.t.Errorf("%q, %+v", f.Line(), f)
		}
		if got := p.lines("failed"); !slices.Equal(got, []string{want}) {
			p.t.Errorf("people are told %q", got)
		}
		if got := p.lines("suggested"); !slices.Equal(got, []string{want + " Actions: 1 Retry, 2 Wait 2 min more, 3 Stop"}) {
			p.t.Errorf("people are offered %q", got)
		}
	})
}

// TestTheWordsOfATurnThatIsOver: the tests ran for half an hour, and the store was slow at that
// moment, so that the turn took two seconds longer.
func TestTheWordsOfATurnThatIsOver(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		store := &slowStore{Log: timeline.NewMemory()}
		tests := runner.Tool{Name: "run_tests", Timeout: 2 * time.Hour, Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
			time.Sleep(30*time.Minute - latency - time.Second)
			store.slow(3 * time.Second)
			runner.Progress(ctx, "41 of 42 passed")
			<-ctx.Done()
			return "", context.Cause(ctx)
		}}
		return scenario{
			log: store, turns: []turn{says(faultlab.ToolCall("run_tests", "{}"))}, tools: []runner.Tool{tests},
			timers: recovery.Settings{failure.TimerMaxTurn: 30 * 60_000},
		}
	}, func(p *playedRun) {
		f := p.expires(failure.TimerMaxTurn, 30*time.Minute+2*time.Second)
		const want = "This turn reached its limit of 30 min (30 min 2 s). Last action: run_tests. The work so far is kept. Continue, or ask for a simpler approach."
		if f.Line() != want || f.Elapsed != 1_802_000 || f.LastStepElapsed != 1_801_000 {
			p.t.Errorf("%q, %+v", f.Line(), f)
		}
		if got := p.lines("suggested"); !slices.Equal(got, []string{want + " Actions: 1 Continue for 30 min more, 2 Stop"}) {
			p.t.Errorf("people are offered %q", got)
		}
		if said := p.lines("noted"); !slices.Contains(said, "run_tests: 41 of 42 passed") {
			p.t.Errorf("what the tool said is missing: %q", said)
		}
	})
}

// slowStore delays one append when it is told to.
type slowStore struct {
	timeline.Log
	next atomic.Int64 // a time.Duration
}

func (s *slowStore) slow(d time.Duration) { s.next.Store(int64(d)) }

func (s *slowStore) Append(ctx context.Context, lease timeline.Lease, after uint64, events ...recovery.Event) error {
	time.Sleep(time.Duration(s.next.Swap(0)))
	return s.Log.Append(ctx, lease, after, events...)
}

// note is a progress note that people see, and when it came.
type note struct {
	at   time.Duration
	text string
}

func (p *playedRun) notes() []note {
	var list []note
	for _, e := range p.events() {
		if e.Type() == "noted" && e.Text != "" {
			list = append(list, note{e.Time.Sub(noon), e.Text})
		}
	}
	return list
}

// TestNotesWhileAToolRuns: at 30 s, 60 s, 120 s, …; also for a tool that takes 42 s, as in the
// spec.
func TestNotesWhileAToolRuns(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{turns: []turn{says(faultlab.ToolCall("run_tests", "{}")), says(faultlab.Answer("Fine."))}, tools: []runner.Tool{takes("run_tests", 5*time.Minute)}}
	}, func(p *playedRun) {
		p.completes("Fine.", latency+5*time.Minute+latency)
		want := []note{
			{latency + 30*time.Second, "Still working: run_tests, 30 s"},
			{latency + time.Minute, "Still working: run_tests, 1 min"},
			{latency + 2*time.Minute, "Still working: run_tests, 2 min"},
			{latency + 4*time.Minute, "Still working: run_tests, 4 min"},
		}
		if got := p.notes(); !slices.Equal(got, want) {
			p.t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// TestNotesWhileAModelIsSilent: the first note about a model call that does not begin comes at 30
// s.
func TestNotesWhileAModelIsSilent(t *testing.T) {
	everywhere(t, thisMachine, func() scenario { return scenario{turns: []turn{noHeaders}} }, func(p *playedRun) {
		p.expires(failure.TimerFirstEvent, 5*time.Minute)
		name := words.ProviderName(p.entry.name)
		want := []note{
			{30 * time.Second, "Still waiting for " + name + "… 30 s"},
			{time.Minute, "Still waiting for " + name + "… 1 min"},
			{2 * time.Minute, "Still waiting for " + name + "… 2 min"},
			{4 * time.Minute, "Still waiting for " + name + "… 4 min"},
		}
		if got := p.notes(); !slices.Equal(got, want) {
			p.t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// TestNotesKeepTheirDistance: no note comes within 20 s of anything else that people see. Here the
// tool reports something after 22 s, so the note comes 42 s after the tool began.
func TestNotesKeepTheirDistance(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		tests := runner.Tool{Name: "run_tests", Run: func(ctx context.Context, _ runner.ToolCall) (string, error) {
			time.Sleep(22 * time.Second)
			runner.Progress(ctx, "12 of 42 passed")
			time.Sleep(28 * time.Second)
			return "done", nil
		}}
		return scenario{turns: []turn{says(faultlab.ToolCall("run_tests", "{}")), says(faultlab.Answer("Fine."))}, tools: []runner.Tool{tests}}
	}, func(p *playedRun) {
		p.completes("Fine.", latency+50*time.Second+latency)
		want := []note{
			{latency + 22*time.Second, "run_tests: 12 of 42 passed"},
			{latency + 42*time.Second, "Still working: run_tests, 42 s"},
		}
		if got := p.notes(); !slices.Equal(got, want) {
			p.t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// TestNotesAreSilentWhileTextComes: no note is needed while text is shown.
func TestNotesAreSilentWhileTextComes(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{turns: []turn{says(faultlab.SlowAnswer(strings.TrimSpace(strings.Repeat("slow ", 30)), 15*time.Second))}}
	}, func(p *playedRun) {
		p.completes(strings.TrimSpace(strings.Repeat("slow ", 30)), latency+30*15*time.Second)
		if got := p.notes(); got != nil {
			p.t.Errorf("%+v", got)
		}
	})
}

// TestNotesCanBeSwitchedOff: progress_after 0.
func TestNotesCanBeSwitchedOff(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{
			turns: []turn{says(faultlab.ToolCall("run_tests", "{}")), says(faultlab.Answer("Fine."))}, tools: []runner.Tool{takes("run_tests", 5*time.Minute)},
			timers: recovery.Settings{failure.TimerProgress: 0},
		}
	}, func(p *playedRun) {
		p.completes("Fine.", latency+5*time.Minute+latency)
		if got := p.notes(); got != nil {
			p.t.Errorf("%+v", got)
		}
	})
}

// TestTheWordsOfAWait: a wait is announced once, with the moment when it ends; clients count down
// by themselves.
func TestTheWordsOfAWait(t *testing.T) {
	for name, tt := range map[string]struct {
		wait  time.Duration
		waits recovery.WaitFor
		words string
	}{
		"in process": {30 * time.Second, recovery.WaitTime, "{provider} asked to slow down. Retrying in 30 s… (attempt 1/3)"},
		"parked":     {2 * time.Hour, recovery.WaitReset, "Waiting for {provider} until 14:00 UTC on March 25."},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, everybody, func() scenario {
				return scenario{auto: true, turns: []turn{limitedFor(tt.wait), says(faultlab.Answer("Fine."))}}
			}, func(p *playedRun) {
				time.Sleep(latency + 20*time.Second)
				state := p.state()
				if state.Status != recovery.StatusWaiting || state.Wait.For != tt.waits || !state.Wait.Until.Equal(noon.Add(latency+tt.wait)) {
					p.t.Errorf("%s, %+v", state.Status, state.Wait)
				}
				words := strings.ReplaceAll(tt.words, "{provider}", words.ProviderName(p.entry.name))
				if got := p.lines("waiting", "noted"); !slices.Equal(got, []string{words}) {
					p.t.Errorf("people are told %q, want %q", got, words)
				}
				_, _ = p.run.Wait(context.Background())
			})
		})
	}
}

// TestTheWordsOfBeingOffline: with auto-recover the run waits for the network and says so.
func TestTheWordsOfBeingOffline(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{auto: true, online: offlineFor(10 * time.Minute), turns: []turn{{dial: refused}, says(faultlab.Answer("Fine."))}}
	}, func(p *playedRun) {
		p.completes("Fine.", 10*time.Minute+latency)
		want := []string{"This computer is offline. The run continues when the connection is back.", "The connection is back. The run continues."}
		if got := p.lines("waiting", "due"); !slices.Equal(got, want) {
			p.t.Errorf("people are told %q", got)
		}
	})
}

// TestTheHookHearsOfItsModel: the expiry of a timer that is not the model's is not counted as the
// model's silence.
func TestTheHookHearsOfItsModel(t *testing.T) {
	everywhere(t, everybody, func() scenario {
		return scenario{turns: []turn{noHeaders}, hook: func(context.Context, hooks.RunError) (recovery.Vote, error) {
			return recovery.Vote{}, nil
		}}
	}, func(p *playedRun) {
		limit := p.entry.builtIn().FirstEvent.Duration()
		p.expires(failure.TimerFirstEvent, limit)
		e := p.saw[0]
		if e.Failure.Timer != failure.TimerFirstEvent || e.Failure.Limit.Duration() != limit || e.IdleExpiries != 1 || e.Elapsed.Duration() != limit {
			p.t.Errorf("%+v", e)
		}
		if !p.state().SuggestionOpen() {
			p.t.Error("nobody had an opinion, and what is safe is not offered")
		}
	})
}
