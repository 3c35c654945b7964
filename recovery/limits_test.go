package recovery

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// TestI51 plays random runs whose models, engines, tools, plugins and persons say anything
// at all, every field of every failure included: no more calls than the policy allows.
func TestI51(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := newToy(drawAdversarial(t))
		c := &callCount{}
		y.check = func(before *Run, e Event, after *Run) { c.count(t, before, e) }
		y.start(t)
		y.loop(t)
		oneEnd(t, y)
	})
}

// drawAdversarial draws a world in which nobody tells the truth. Its persons answer a few times.
func drawAdversarial(t *rapid.T) *world {
	p := DefaultPolicy()
	p.AutoRecover = rapid.Bool().Draw(t, "auto")
	p.MaxRetries = rapid.IntRange(0, 8).Draw(t, "retries")
	p.MaxRounds = rapid.IntRange(1, 6).Draw(t, "rounds")
	p.Models = modelNames[:rapid.IntRange(1, 3).Draw(t, "models")]
	p.Plugins = []string{"p", "q"}[:rapid.IntRange(0, 2).Draw(t, "plugins")]
	p.Budget.Tokens = rapid.SampledFrom([]int64{0, 0, 100, 2000}).Draw(t, "tokens")
	p.Timeouts.Run = rapid.SampledFrom([]failure.Millis{0, 100_000, 172_800_000}).Draw(t, "run")
	w := &world{
		start:  Started{Model: "a/one", Input: []llm.Message{llm.User("hello")}, Policy: p},
		models: map[string][]outcome{}, tool: map[string]toolOutcome{},
	}
	for _, name := range toolNames {
		w.start.Tools = append(w.start.Tools, ToolDecl{Tool: llm.Tool{Name: name}, Safety: Safety(strings.TrimPrefix(name, "unsafe"))})
		w.tool[name] = toolOutcome{took: time.Second, lost: rapid.Bool().Draw(t, name+" is lost"), panic: rapid.Bool().Draw(t, name+" panics")}
	}
	for _, m := range p.Models {
		w.models[m] = rapid.SliceOfN(rapid.Custom(drawLie), 1, 4).Draw(t, m)
		for i, o := range w.models[m] {
			for j := range o.calls {
				o.calls[j].ID = fmt.Sprintf("%s.%d.%d", m, i, j)
			}
		}
	}
	votes := rapid.SliceOfN(rapid.Custom(drawVote), 1, 8).Draw(t, "votes")
	w.vote = func(plugin string, r *Run) Vote { return votes[(int(r.Open.Seq)+len(plugin))%len(votes)] }
	persons, answers := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 6).Draw(t, "persons"), rapid.IntRange(0, 40).Draw(t, "answers")
	w.person = func(r *Run) string {
		if answers--; answers < 0 {
			return ""
		}
		return anyOf(r.Suggestion.Actions, persons[int(r.Seq)%len(persons)])
	}
	w.onWait = func(r *Run) string { return anyOf(r.Wait.Actions, persons[int(r.Seq)%len(persons)]-4) }
	return w
}

// anyOf is the nth of the actions that the runner carries out, or none.
func anyOf(buttons []Button, n int) string {
	if n < 0 || n >= len(buttons) || buttons[n].Effect != EffectRunner {
		return ""
	}
	return buttons[n].ID
}

func drawLie(t *rapid.T) outcome {
	o := outcome{took: time.Duration(rapid.IntRange(1, 20_000).Draw(t, "took")) * time.Millisecond}
	o.usage = llm.Usage{InputTokens: rapid.SampledFrom([]int64{0, 7, 20, -20, 1<<63 - 1, -1 << 63}).Draw(t, "in"), OutputTokens: rapid.SampledFrom([]int64{0, 7, 20, -20, 1<<63 - 1, -1 << 63}).Draw(t, "out")}
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(toolNames), 1, 3, rapid.ID[string]).Draw(t, "calls") {
			o.calls = append(o.calls, llm.ToolCall{Name: name, Args: json.RawMessage(`{}`)})
		}
	case 1:
		o.text = "the end"
	default:
		o.fail = drawFailure(t)
	}
	return o
}

// drawFailure draws every field of a failure, whatever fields there are.
func drawFailure(t *rapid.T) *failure.Failure {
	words := []string{"", "anything"}
	for _, k := range failure.Kinds() {
		words = append(words, string(k), string(k.Code()))
	}
	for _, timer := range append(SettableTimers(), failure.TimerWait, failure.TimerNetwork, failure.TimerExpiry) {
		words = append(words, string(timer))
	}
	facts := []string{failure.VariantDayTokens, failure.VariantDayMoney, partTokens, partMoney, failure.VariantUnknownOutcome, failure.VariantCutShort, failure.VariantKeyMissing, failure.VariantLocal}
	for _, cause := range []Cause{CauseClock, CauseBudget, CauseDayBudget, CauseCutShort, CauseUnknownOutcome} {
		facts = append(facts, string(cause))
	}
	f := &failure.Failure{}
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		switch {
		case !v.Type().Field(i).IsExported():
		case name == "Kind" && rapid.Bool().Draw(t, "known"):
			field.SetString(string(rapid.SampledFrom(failure.Kinds()).Draw(t, name)))
		case field.Kind() == reflect.String:
			from := rapid.SampledFrom([][]string{words, facts}).Draw(t, name+" is a fact")
			field.SetString(rapid.SampledFrom(from).Draw(t, name))
		case field.Kind() == reflect.Bool:
			field.SetBool(rapid.Bool().Draw(t, name))
		case field.CanInt():
			field.SetInt(rapid.SampledFrom([]int64{0, 0, 1, 700, 59_000, 61_000, -1, 1<<63 - 1, -1 << 63}).Draw(t, name))
		case field.Type() == reflect.TypeFor[time.Time]():
			field.Set(reflect.ValueOf(rapid.SampledFrom([]time.Time{{}, {}, begin, begin.Add(time.Hour), begin.Add(9000 * time.Hour)}).Draw(t, name)))
		default:
			t.Fatalf("nobody draws Failure.%s", name)
		}
	}
	return f
}

// callCount counts the calls of a run's models by its events alone.
type callCount struct {
	failed, granted, rounds, extended   int // in the run
	inCall, retries, summaries, answers int // in the call at hand
	turned                              int // in it, waits for a switch in which a person said otherwise
}

func (c *callCount) count(t *rapid.T, before *Run, e Event) {
	switch b := e.Body.(type) {
	case Began:
		c.inCall++
		if b.Retry {
			c.retries++
		}
		c.mayCall(t, before, b)
	case Compacting:
		if c.summaries++; c.summaries > MaxCompactions {
			t.Fatalf("I51: %d summaries of one model call", c.summaries)
		}
		mayBegin(t, before, e.Time)
	case Answered:
		c.rounds++
		c.inCall, c.retries, c.summaries, c.answers, c.turned = 0, 0, 0, 0, 0
	case Failed:
		if b.Attempt != 0 {
			c.failed++
		}
	case Accepted:
		if before.Wait == nil {
			c.granted++
			c.answers++
			if o := before.Open; o != nil && o.Failure.Kind == failure.KindRoundLimit && before.SuggestionOpen() {
				c.extend(before.Suggestion, b)
			}
		} else if before.Open.Decision.Action == ActionSwitchModel {
			c.turned++
		}
	}
}

func (c *callCount) mayCall(t *rapid.T, r *Run, b Began) {
	switch {
	case c.inCall > MaxAttemptsInAll+c.answers:
		t.Fatalf("I51: attempt %d of one model call, %d of them granted", c.inCall, c.answers)
	case c.failed >= MaxFailedAttempts+c.granted:
		t.Fatalf("I51: a call after %d failed attempts, %d of them granted", c.failed, c.granted)
	case c.rounds >= r.Policy.MaxRounds*(1+c.extended):
		t.Fatalf("I51: a call after %d rounds of %d, %d times extended", c.rounds, r.Policy.MaxRounds, c.extended)
	case !r.Policy.AutoRecover && c.inCall > 1+c.answers:
		t.Fatalf("I51: attempt %d of one model call, %d of them granted, and nothing is recovered by itself", c.inCall, c.answers)
	case r.Policy.AutoRecover && c.retries > r.Policy.MaxRetries+c.answers+c.turned+lastRound(r):
		t.Fatalf("I51: retry %d of %d, %d of them granted", c.retries, r.Policy.MaxRetries, c.answers)
	case r.Policy.Budget.Lacks(r.Spent, b.Reserve) != "":
		t.Fatalf("I51: a call on a budget of %+v, of which %+v are spent", r.Policy.Budget, r.Spent)
	}
	mayBegin(t, r, r.Last)
}

// lastRound is the one retry more of a call whose patience was not over when its retries
// were: each model that failed is asked once more, the one at hand too.
func lastRound(r *Run) int {
	if r.Call.LastRound {
		return 1
	}
	return 0
}

func (c *callCount) extend(s *Suggestion, b Accepted) {
	if button, ok := s.Button(b.Action); ok && button.Kind == ButtonExtend {
		c.extended++
	}
}

// TestTheRoundLimitSaysHowMany: people read how many rounds there were, also after one.
func TestTheRoundLimitSaysHowMany(t *testing.T) {
	for rounds, want := range map[int]string{1: "This run reached its limit of 1 round", 200: "This run reached its limit of 200 rounds"} {
		r := &Run{Rounds: rounds, Policy: Policy{MaxRounds: rounds}}
		f, ok := r.permit("a/one", Budget{})[0].Record.(Failed)
		if !ok || f.Cause != CauseRounds || f.Failure.Title != want {
			t.Errorf("%+v", f)
		}
	}
}
