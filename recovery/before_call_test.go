package recovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// drawVerdict is anything that a plugin may say of a call, valid or not.
func drawVerdict(t *rapid.T, now time.Time) Vote {
	v := Vote{
		Action:   rapid.SampledFrom([]Action{ActionNone, ActionAllow, ActionAllow, ActionRoute, ActionHold, ActionRefuse, ActionRetry, "new"}).Draw(t, "verdict"),
		NewModel: rapid.SampledFrom([]string{"a/one", "b/two", "c/three", "d/none", ""}).Draw(t, "route"),
		Reason:   "because",
	}
	if rapid.IntRange(0, 9).Draw(t, "breaks") == 0 {
		return Vote{Error: "it broke"}
	}
	if after := rapid.SampledFrom([]time.Duration{-time.Second, time.Second, time.Hour, 8 * 24 * time.Hour}).Draw(t, "hold"); after != 8*24*time.Hour || v.Action != ActionHold {
		v.Until = now.Add(after)
	}
	return v
}

// TestI61 plays random runs whose plugins say anything at all of the calls that are about to begin:
// none begins that one of them refuses, holds or has elsewhere, and none that would not be allowed
// without them.
func TestI61(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawAdversarial(t)
		w.start.Policy.BeforeCall = []Gatekeeper{{Plugin: "gate"}, {Plugin: "closed", FailClosed: true}}[rapid.IntRange(0, 1).Draw(t, "from"):]
		advice := w.vote
		y := newToy(w)
		w.vote = func(plugin string, r *Run) Vote {
			if plugin == "gate" || plugin == "closed" {
				return drawVerdict(t, r.Last)
			}
			return advice(plugin, r)
		}
		c, said := &callCount{}, map[string]Vote{}
		y.check = func(before *Run, e Event, after *Run) {
			c.count(t, before, e)
			switch b := e.Body.(type) {
			case Voted:
				if b.Occasion.Hook() == HookBeforeCall {
					said[b.Vote.Plugin] = b.Vote
				}
			case Decided:
				if b.Decision.Action == ActionRoute || b.Decision.Action == ActionHold || b.Decision.Action == ActionRefuse {
					clear(said)
				}
			case Failed:
				clear(said)
			case Began:
				letBy(t, before, said, b.Model, e.Time)
			case Compacting:
				letBy(t, before, said, b.Model, e.Time)
			}
		}
		y.start(t)
		y.loop(t)
		oneEnd(t, y)
	})
}

// letBy computes independently of the heart when a call of that model may begin.
func letBy(t *rapid.T, r *Run, said map[string]Vote, model string, now time.Time) {
	if !slices.Contains(r.Policy.Models, model) {
		t.Fatalf("I61: %s is asked, which the run may not use", model)
	}
	for _, k := range r.Policy.BeforeCall {
		v, asked := said[k.Plugin]
		known := slices.Contains(r.Policy.Models, v.NewModel)
		switch {
		case !asked:
			t.Fatalf("I61: %s is asked, and %s was not", model, k.Plugin)
		case v.Error != "":
			if k.FailClosed {
				t.Fatalf("I61: %s is asked, and %s, which fails closed, has failed", model, k.Plugin)
			}
		case v.Action == ActionRefuse, v.Action == ActionHold && v.Until.After(now), v.Action == ActionRoute && v.NewModel != model && known && r.forbids(v.NewModel) == "":
			t.Fatalf("I61: %s is asked, and %s says %+v", model, k.Plugin, v)
		case k.FailClosed && (v.Action == "new" || v.Action == ActionRetry || v.Action == ActionRoute && !known):
			t.Fatalf("I61: %s is asked, and the answer of %s, which fails closed, is none: %+v", model, k.Plugin, v)
		}
	}
	clear(said)
}

// gated plays a run of three models with one before_call plugin, which gives these answers one
// after the other.
func gated(t *testing.T, closed bool, change func(*world), verdicts ...func(*Run) Vote) *toy {
	t.Helper()
	p := DefaultPolicy()
	p.AutoRecover, p.Models, p.BeforeCall = true, []string{"a/one", "b/two", "c/three"}, []Gatekeeper{{Plugin: "gate", FailClosed: closed}}
	models := map[string][]outcome{}
	for _, m := range p.Models {
		models[m] = []outcome{{took: time.Second, text: "from " + m}}
	}
	n := 0
	w := &world{start: Started{Model: "a/one", Input: []llm.Message{llm.User("hello")}, Policy: p}, models: models}
	w.vote = func(_ string, r *Run) Vote {
		v := verdicts[min(n, len(verdicts)-1)](r)
		n++
		return v
	}
	if change != nil {
		change(w)
	}
	return play(t, w)
}

func says(v Vote) func(*Run) Vote { return func(*Run) Vote { return v } }

func holds(d time.Duration) func(*Run) Vote {
	return func(r *Run) Vote {
		return Vote{Action: ActionHold, Until: r.Last.Add(d), Reason: "the hour's budget is used up"}
	}
}

func TestBeforeCall(t *testing.T) {
	allow, refuse := says(Vote{Action: ActionAllow}), says(Vote{Action: ActionRefuse, Reason: "it holds names of customers"})
	route := func(model string) func(*Run) Vote {
		return says(Vote{Action: ActionRoute, NewModel: model, Reason: "after hours"})
	}
	broken := says(Vote{Error: "no answer within 500ms"})
	swaps := func(r *Run) Vote {
		if r.Gate != nil && r.Gate.Model == "b/two" {
			return Vote{Action: ActionRoute, NewModel: "c/three"}
		}
		return Vote{Action: ActionRoute, NewModel: "b/two"}
	}
	for name, c := range map[string]struct {
		closed   bool
		verdicts []func(*Run) Vote
		answer   string
		failed   string // in the words of the last failure
		took     time.Duration
	}{
		"no opinion":                        {verdicts: []func(*Run) Vote{says(Vote{})}, answer: "from a/one"},
		"allowed":                           {verdicts: []func(*Run) Vote{allow}, answer: "from a/one"},
		"routed, and asked about that":      {verdicts: []func(*Run) Vote{route("b/two"), allow}, answer: "from b/two"},
		"routed always":                     {verdicts: []func(*Run) Vote{route("b/two")}, answer: "from b/two"},
		"routed where nothing is":           {verdicts: []func(*Run) Vote{route("d/none")}, answer: "from a/one"},
		"routed where nothing is, closed":   {closed: true, verdicts: []func(*Run) Vote{route("d/none")}, failed: "is not one of the alternatives"},
		"routed to and fro":                 {verdicts: []func(*Run) Vote{swaps}, answer: "from a/one"}, // b/two is refused then, and naming it does not count
		"routed to and fro, closed":         {closed: true, verdicts: []func(*Run) Vote{swaps}, failed: `"b/two" is not allowed (gate: plugins do not agree which model may be asked)`},
		"refused, and another one is asked": {verdicts: []func(*Run) Vote{refuse, allow}, answer: "from b/two"},
		"refused":                           {verdicts: []func(*Run) Vote{refuse}, failed: "The model a/one is not allowed (gate: it holds names of customers)"},
		"broken":                            {verdicts: []func(*Run) Vote{broken}, answer: "from a/one"},
		"broken, closed":                    {closed: true, verdicts: []func(*Run) Vote{broken}, failed: "no answer within 500ms"},
		"held":                              {verdicts: []func(*Run) Vote{holds(3 * time.Second), allow}, answer: "from a/one", took: 3 * time.Second},
		"held for hours":                    {verdicts: []func(*Run) Vote{holds(3 * time.Hour), allow}, answer: "from a/one", took: 3 * time.Hour},
		"held too often":                    {verdicts: []func(*Run) Vote{holds(time.Second)}, failed: "the call was held 10 times"},
		"held for too long":                 {verdicts: []func(*Run) Vote{holds(49 * time.Hour)}, failed: "the time for this run"},
		"held until a time that is over":    {verdicts: []func(*Run) Vote{holds(-time.Hour)}, answer: "from a/one"},
	} {
		t.Run(name, func(t *testing.T) {
			y := gated(t, c.closed, nil, c.verdicts...)
			failed := ""
			for _, m := range eventsOf(t, y) {
				if f, ok := m.Body.(Failed); ok {
					failed += f.Failure.Message + " "
				}
			}
			if y.run.Answer() != c.answer || !strings.Contains(failed, c.failed) {
				t.Errorf("%s: %q after %q", y.run.Status, y.run.Answer(), failed)
			}
			if took := y.run.Last.Sub(begin); took < c.took || c.answer != "" && took > c.took+5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func eventsOf(t *testing.T, y *toy) []Event {
	t.Helper()
	var events []Event
	for _, stored := range y.log {
		var e Event
		if err := e.UnmarshalJSON(stored); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// TestAHoldIsNobodysIdleness: neither the step's nor the turn's timer counts a long hold.
func TestAHoldIsNobodysIdleness(t *testing.T) {
	y := gated(t, false, func(w *world) {
		w.start.Policy.Timeouts.Step, w.start.Policy.Timeouts.MaxTurn = 2000, 60_000
	}, holds(time.Hour), says(Vote{}))
	if y.run.Answer() != "from a/one" || y.run.FailedAttempts > 0 {
		t.Errorf("%s: %+v", y.run.Status, y.run.Open)
	}
}

// TestARefusalIsOfOneCall: the next call of the run is asked about anew.
func TestARefusalIsOfOneCall(t *testing.T) {
	refuse := says(Vote{Action: ActionRefuse})
	y := gated(t, false, func(w *world) {
		w.start.Tools = []ToolDecl{{Tool: llm.Tool{Name: "read_only"}, Safety: SafetyReadOnly}}
		w.models["b/two"] = []outcome{{took: time.Second, calls: []llm.ToolCall{{ID: "1", Name: "read_only", Args: []byte("{}")}}}, {took: time.Second, text: "the end"}}
		w.tool = map[string]toolOutcome{"read_only": {text: "read"}}
	}, refuse, says(Vote{}))
	if y.run.Answer() != "the end" || len(y.run.Restrictions) > 0 {
		t.Errorf("%s: %+v", y.run.Status, y.run.Restrictions)
	}
}

// TestNobodyIsAskedBeforeCalls: without such a plugin nothing is written, and nothing allocated.
func TestNobodyIsAskedBeforeCalls(t *testing.T) {
	r := gated(t, false, func(w *world) { w.start.Policy.BeforeCall = nil }).run
	if r.Gates > 0 || r.Gate != nil {
		t.Errorf("%d %+v", r.Gates, r.Gate)
	}
	call := Began{Attempt: 1, Model: "a/one"}
	if n := testing.AllocsPerRun(100, func() {
		if r.beforeCall(call) != nil {
			t.Error("something comes before it")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestTrouble: what it took is there at the end.
func TestTrouble(t *testing.T) {
	overloaded := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	y := gated(t, false, func(w *world) {
		w.start.Policy.Plugins = []string{"p"}
		w.start.Policy.BeforeCall = nil
		w.start.Policy.Prices = map[string]Price{"a/one": {Input: 1_000_000}}
		w.models["a/one"] = []outcome{{took: time.Second, fail: overloaded, usage: llm.Usage{InputTokens: 7}}}
	}, says(Vote{Action: ActionRetry}), says(Vote{Action: ActionSwitchModel, NewModel: "b/two"}))
	got := y.run.Trouble
	if !y.run.Recovered() || got.Switches != 1 || got.Took < 1000 || fmt.Sprint(got.Kinds) != "[overloaded]" || got.Wasted != (Budget{Tokens: 14, Microdollars: 14}) {
		t.Errorf("%v: %+v", y.run.Recovered(), got)
	}
}
