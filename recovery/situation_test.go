package recovery

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// lines are what a person is shown of a run at such times after its last event.
func lines(r *Run, after ...time.Duration) []string {
	s := r.Situation()
	var list []string
	for _, d := range after {
		at := s.At(r.Last.Add(d), HeardNothing)
		line := string(at.State) + ": " + at.Line
		if said := at.Said(line, r.Last.Add(d)); strings.Contains(said, "{") {
			line += said
		}
		if at.Card != nil {
			line += at.Card.Title + " | " + at.Card.Message
		}
		for _, b := range at.Actions {
			line += " [" + b.Label + "]"
		}
		if at.Stop {
			line += " [Stop]"
		}
		list = append(list, line)
	}
	return list
}

// situationOf is a run whose model is on the way, for bodies that follow a second apart.
func situationOf(t *testing.T, policy Policy, bodies ...Body) *Run {
	t.Helper()
	r := &Run{}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	all := append([]Body{
		Started{Model: "anthropic/opus", Input: []llm.Message{llm.User("hi")}, Policy: policy},
		Claimed{Owner: "o", Epoch: 1},
		Began{Attempt: 1, Round: 1, Model: "anthropic/opus"},
	}, bodies...)
	for i, b := range all {
		if i > 2 {
			at = at.Add(time.Second)
		}
		if err := r.Apply(Event{Run: "r1", Seq: uint64(i + 1), Time: at, Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func opusOverloaded() failure.Failure {
	f := *failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Model = "anthropic/opus"
	f.Describe(failure.Words{})
	return f
}

func retryIn(d time.Duration) Decided {
	return Decided{Occasion: "run_error/4", Decision: Decision{Action: ActionRetry, Delay: failure.InMillis(d)}}
}

func auto() Policy {
	p := DefaultPolicy()
	p.AutoRecover, p.Models = true, []string{"anthropic/opus", "openai/gpt"}
	return p
}

func TestSituationAsTimePasses(t *testing.T) {
	const s = time.Second
	wait := Waiting{
		ID: "w", For: WaitTime, Until: time.Date(2026, 3, 1, 9, 0, 5, 0, time.UTC), Model: "anthropic/opus", Retry: 2, Of: 3,
		Actions: waitActions([]Alternative{{Model: "openai/gpt"}}, "anthropic/opus"),
	}
	policy := auto()
	policy.AutoRecover = false
	untimed := auto()
	untimed.Timeouts.FirstEvent, untimed.Timeouts.Idle = 0, 0
	tool := Answered{Attempt: 1, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &llm.ToolCall{ID: "c", Name: "run_tests"}}}}}
	failed := Failed{Attempt: 1, Failure: opusOverloaded()}
	for name, c := range map[string]struct {
		run   *Run
		after []time.Duration
		want  []string
	}{
		"a call": {situationOf(t, auto()), []time.Duration{0, 2 * s, 3 * s, 12 * s, 20 * s, 30 * s}, []string{
			"thinking: Thinking…", "thinking: Thinking…", "thinking: Thinking… {elapsed}",
			"slow: Still waiting for Anthropic… {elapsed} [Stop]",
			"slow: Still waiting for Anthropic… {elapsed} · will retry in {countdown} [Retry now] [Switch to openai/gpt] [Stop]",
			"slow: Still waiting for Anthropic… {elapsed} [Retry now] [Switch to openai/gpt] [Stop]",
		}},
		"a call that nothing retries": {situationOf(t, policy), []time.Duration{20 * s}, []string{
			"slow: Still waiting for Anthropic… {elapsed} [Retry now] [Switch to openai/gpt] [Stop]",
		}},
		"a call without a limit": {situationOf(t, untimed), []time.Duration{20 * s}, []string{
			"slow: Still waiting for Anthropic… {elapsed} [Stop]",
		}},
		"a failure": {situationOf(t, auto(), failed), []time.Duration{0}, []string{"thinking: Thinking…"}},
		"a wait": {situationOf(t, auto(), failed, retryIn(4*s), wait), []time.Duration{0}, []string{
			"retry_wait: Anthropic is overloaded. Retrying in {countdown}… (attempt 2/3) [Retry now] [Switch to openai/gpt] [Stop]",
		}},
		"a short wait": {situationOf(t, auto(), failed, retryIn(s), wait), []time.Duration{0}, []string{"thinking: Thinking…"}},
		"a retry": {
			situationOf(t, auto(), failed, retryIn(4*s), wait, Due{Timer: failure.TimerWait, Failure: 4}, Began{Attempt: 2, Round: 1, Try: 1, Model: "anthropic/opus", Retry: true}),
			[]time.Duration{0, 15 * s, 20 * s},
			[]string{
				"retry_now: Anthropic is overloaded. Retrying… (attempt 1/3) [Stop]", "retry_now: Anthropic is overloaded. Retrying… (attempt 1/3) [Stop]",
				"slow: Still waiting for Anthropic… {elapsed} · will retry in {countdown} [Retry now] [Switch to openai/gpt] [Stop]",
			},
		},
		"a tool": {situationOf(t, auto(), tool, ToolBegan{CallID: "c", Name: "run_tests"}), []time.Duration{0, 30 * s}, []string{
			"tool: Thinking…", "tool_slow: Still working: run_tests, {elapsed} [Stop]",
		}},
		"the store":    {situationOf(t, auto(), Paused{Reason: "no space left"}), []time.Duration{0}, []string{"wait_store: The run waits for its store: no space left. It goes on by itself. [Stop]"}},
		"a stop":       {situationOf(t, auto(), CancelRequested{}), []time.Duration{0}, []string{"stopping: Stopping…"}},
		"what stopped": {situationOf(t, auto(), CancelRequested{}, Ended{Status: StatusCancelled}), []time.Duration{0}, []string{"stopped: Stopped."}},
		"an answer":    {situationOf(t, auto(), Ended{Status: StatusCompleted}), []time.Duration{0}, []string{"idle: "}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(c.run, c.after...); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestSituationByWhatIsHeard: what a client heard of the attempt is all that it adds.
func TestSituationByWhatIsHeard(t *testing.T) {
	r := situationOf(t, auto())
	s := r.Situation()
	late := r.Last.Add(time.Hour)
	if at := s.At(late, HeardReasoning); at.State != StateThinking || at.Line != "Thinking… {elapsed}" {
		t.Errorf("while it reasons: %+v", at)
	}
	if at := s.At(late, HeardText); at.State != StateIdle || at.Line != "" {
		t.Errorf("while it writes: %+v", at)
	}
}

// TestSituationCountsDown: a card shows the time that is left, and not how long the wait was when
// the model failed; once the time has come, it says so.
func TestSituationCountsDown(t *testing.T) {
	f := opusOverloaded()
	f.Variant, f.RetryAfter = failure.VariantCooling, 26_000
	f.Describe(failure.Words{})
	if !strings.Contains(f.Message, "left alone for 26 s.") {
		t.Fatal(f.Message)
	}
	policy := auto()
	policy.AutoRecover = false
	r := situationOf(t, policy, Failed{Attempt: 1, Failure: f, Cause: CauseCooling, Alternatives: []Alternative{{Model: "openai/gpt"}}},
		Decided{Occasion: "run_error/4", Decision: Decision{Action: ActionSwitchModel, NewModel: "openai/gpt"}})
	next := Next(r)[0].Record
	if err := r.Apply(Event{Run: "r1", Seq: r.Seq + 1, Time: r.Last, Body: next}); err != nil {
		t.Fatal(err)
	}
	s := r.Situation()
	at := s.At(r.Last, HeardNothing)
	back := r.Open.At.Add(26 * time.Second)
	if at.Card == nil || !strings.Contains(at.Card.Message, "It is left alone for {countdown}.") || !at.Until.Equal(back) {
		t.Fatalf("%+v, %+v", at, at.Card)
	}
	at = s.At(back, HeardNothing)
	if at.State != StateSuggestion || strings.Contains(at.Card.Message, "{") || !strings.Contains(at.Card.Message, "It may be asked again now. Your message") {
		t.Errorf("%+v", at.Card)
	}
	if at := s.At(r.Suggestion.ExpiresAt, HeardNothing); at.State != StateExpired || at.Line != expiredLine {
		t.Errorf("%+v", at)
	}
	if s.Held == nil || s.Held.By != HeldByPerson {
		t.Errorf("held by %+v", s.Held)
	}
}

// same reports whether two situations are equal, apart from Seq.
func same(a, b *Situation) bool {
	numbered := *a
	numbered.Seq = b.Seq
	return reflect.DeepEqual(numbered, *b)
}

// TestSituationsOfAllStories: after every event of every run there is a situation that survives its
// JSON, and a suggestion that is open can be answered.
func TestSituationsOfAllStories(t *testing.T) {
	for name, w := range stories(t) {
		log := play(t, w()).told
		for n := 1; n <= len(log); n++ {
			r := foldOf(t, &world{}, log[:n])
			s := r.Situation()
			data, err := json.Marshal(s)
			var again Situation
			if err == nil {
				err = json.Unmarshal(data, &again)
			}
			if err != nil || !same(&again, &s) || len(s.Stages) == 0 {
				t.Errorf("%s, event %d: %v, %s", name, n, err, data)
			}
			for i, at := range s.Stages {
				if i > 0 && at.From.Before(s.Stages[i-1].From) {
					t.Errorf("%s, event %d: stage %d is before the one before it", name, n, i)
				}
				if buttons, ok := r.answerable(at.Asks, r.Last); at.Asks != "" && (!ok || len(at.Actions) > len(buttons)) {
					t.Errorf("%s, event %d: %s cannot be answered", name, n, at.Asks)
				}
			}
			if (s.Suggestion != "") != (s.Stages[0].State == StateSuggestion) || !reflect.DeepEqual(s.Status, r.Status) {
				t.Errorf("%s, event %d: %s", name, n, data)
			}
		}
	}
}
