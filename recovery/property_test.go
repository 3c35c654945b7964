package recovery

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"pgregory.net/rapid"
)

var (
	modelNames = []string{"a/one", "b/two", "c/three"}
	toolNames  = []string{"unsafe", "idempotent", "read_only"}
)

// drawWorld draws a story; when hostile, its plugin wants to retry at once for ever.
func drawWorld(t *rapid.T) func() *world {
	p := DefaultPolicy()
	p.AutoRecover = rapid.Bool().Draw(t, "auto")
	p.MaxRetries = rapid.IntRange(0, 8).Draw(t, "retries")
	p.Models = modelNames[:rapid.IntRange(1, 3).Draw(t, "models")]
	p.Plugins = []string{"p", "q"}[:rapid.IntRange(0, 2).Draw(t, "plugins")]
	p.Timeouts.Step = rapid.SampledFrom([]failure.Millis{0, 0, 2_000, 40_000}).Draw(t, "step")
	p.Timeouts.MaxTurn = rapid.SampledFrom([]failure.Millis{0, 30_000, 172_800_000}).Draw(t, "turn")
	p.Timeouts.Run = rapid.SampledFrom([]failure.Millis{100_000, 172_800_000}).Draw(t, "run")
	p.Budget.Tokens = rapid.SampledFrom([]int64{0, 0, 40, 200}).Draw(t, "tokens")
	p.MaxOutputTokens = rapid.SampledFrom([]int{0, 20}).Draw(t, "output")
	p.Tools = rapid.SampledFrom([]ToolOwner{ToolsOfRun, ToolsOfRun, ToolsOfCaller}).Draw(t, "tools")
	if p.Tools == ToolsOfCaller {
		p.Delivery = rapid.SampledFrom([]Delivery{DeliverWhole, DeliverFinal, DeliverContinued}).Draw(t, "delivery")
		p.Keep = rapid.SampledFrom([]Keeping{KeepContent, KeepFigures}).Draw(t, "keep")
	}
	start := Started{Model: "a/one", Input: []llm.Message{llm.User("hello")}, Policy: p}
	if p.Keep == KeepFigures {
		start.Input, start.Asked = []llm.Message{}, DigestOf([]byte("hello"))
	}
	for _, name := range toolNames {
		start.Tools = append(start.Tools, ToolDecl{
			Tool: llm.Tool{Name: name}, Safety: Safety(strings.TrimPrefix(name, "unsafe")), Approval: rapid.IntRange(0, 3).Draw(t, "approval") == 0,
		})
	}
	models := map[string][]outcome{}
	for _, m := range p.Models {
		models[m] = append(rapid.SliceOfN(rapid.Custom(drawOutcome), 0, 6).Draw(t, m), outcome{took: time.Second, text: "the end"})
		for i, o := range models[m] {
			for j := range o.calls {
				o.calls[j].ID = fmt.Sprintf("%s.%d.%d", m, i, j)
			}
		}
	}
	votes := rapid.SliceOfN(rapid.Custom(drawVote), 1, 8).Draw(t, "votes")
	hostile := rapid.Bool().Draw(t, "hostile")
	persons := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 6).Draw(t, "person")
	waits := rapid.SliceOfN(rapid.IntRange(-3, 3), 1, 4).Draw(t, "wait answers")
	cancelAt := rapid.SampledFrom([]uint64{0, 0, 0, 5, 9, 14, 23}).Draw(t, "cancel")
	return func() *world {
		return &world{
			start: start, models: models,
			tool: map[string]toolOutcome{
				"unsafe": {took: 3 * time.Second, text: "sent"}, "idempotent": {took: time.Second, text: "put"},
				"read_only": {took: 50 * time.Millisecond, panic: len(votes)%3 == 0},
			},
			vote: func(plugin string, r *Run) Vote {
				if hostile {
					return Vote{Action: ActionRetry}
				}
				return votes[(int(r.Open.Seq)+len(plugin))%len(votes)]
			},
			person: func(r *Run) string {
				if r.Call.Granted > 3 || r.Rounds > 12 {
					return "" // enough
				}
				return choose(r.Suggestion.Actions, persons[int(r.Seq)%len(persons)])
			},
			onWait: func(r *Run) string { return choose(r.Wait.Actions, waits[int(r.Seq)%len(waits)]) },
			cancel: func(r *Run) bool { return cancelAt > 0 && r.Seq >= cancelAt },
		}
	}
}

// choose takes the nth of the actions that a runner carries out, or none. Nobody here has a
// tool run again, since whoever does knows that it may happen twice.
func choose(buttons []Button, n int) string {
	if n >= 0 && n < len(buttons) && buttons[n].Effect == EffectRunner && buttons[n].Kind != ButtonRerunTool {
		return buttons[n].ID
	}
	return ""
}

func drawOutcome(t *rapid.T) outcome {
	o := outcome{
		took:  time.Duration(rapid.IntRange(1, 20_000).Draw(t, "took")) * time.Millisecond,
		usage: llm.Usage{InputTokens: rapid.Int64Range(0, 20).Draw(t, "in"), OutputTokens: rapid.Int64Range(0, 20).Draw(t, "out")},
	}
	switch rapid.IntRange(0, 5).Draw(t, "how") {
	case 0:
		o.took = forever
	case 1:
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(toolNames), 1, 3, rapid.ID[string]).Draw(t, "calls") {
			o.calls = append(o.calls, llm.ToolCall{Name: name, Args: json.RawMessage(`{}`)})
		}
	case 2, 3, 4:
		o.fail = failure.NewFailure(rapid.SampledFrom(failure.Kinds()[:18]).Draw(t, "kind"), failure.OriginModel, failure.PhaseMidStream, nil)
		o.fail.RetryAfter = rapid.SampledFrom([]failure.Millis{0, 0, 700, 59_000, 61_000, 1<<63 - 1}).Draw(t, "after")
		o.fail.Timer = rapid.SampledFrom([]failure.Timer{"", "", failure.TimerIdle}).Draw(t, "timer")
		o.shown = rapid.SampledFrom([]Shown{ShownNothing, ShownNothing, ShownPart}).Draw(t, "shown")
		o.continuable = rapid.Bool().Draw(t, "continuable")
		if rapid.IntRange(0, 4).Draw(t, "resets") == 0 {
			o.fail.ResetsAt = begin.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "reset")) * time.Second)
		}
	default:
		o.text = "the end"
	}
	return o
}

func drawVote(t *rapid.T) Vote {
	return Vote{
		Action:   rapid.SampledFrom([]Action{ActionRetry, ActionRetry, ActionSwitchModel, ActionFail, ActionNone, "dance"}).Draw(t, "action"),
		Delay:    rapid.SampledFrom([]failure.Millis{0, 0, 1_000, -5, 61_000, failure.MaxDelay + 1}).Draw(t, "delay"),
		NewModel: rapid.SampledFrom([]string{"b/two", "c/three", "evil/x"}).Draw(t, "model"),
		Adjust:   Adjust{Continue: rapid.Bool().Draw(t, "continue")},
		Error:    rapid.SampledFrom([]string{"", "", "", "timed out"}).Draw(t, "error"),
		Actions:  []Button{{Kind: ButtonSwitchModel, Model: "evil/x"}, {Kind: ButtonRetry}, {Kind: "unheard_of"}},
		Restrict: rapid.SampledFrom([]*Restrict{nil, nil, nil, nil, {Never: []string{"a/one"}}, {Never: []string{"b/*", "c/three"}}, {Local: true}, {MaxOutputPrice: 5}}).Draw(t, "restrict"),
	}
}

// TestI01I02I10I11I12I13I14I17I18I19I22I23I40I41 holds every event of random runs
// against what may follow what.
func TestI01I02I10I11I12I13I14I17I18I19I22I23I40I41(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := newToy(drawWorld(t)())
		y.check = func(before *Run, e Event, after *Run) { mayFollow(t, before, e, after) }
		y.start(t)
		y.loop(t)
		oneEnd(t, y)
		withinLimits(t, 0, y)
		usageAdds(t, y)
	})
}

func mayFollow(t *rapid.T, before *Run, e Event, after *Run) {
	if e.Seq != before.Seq+1 {
		t.Fatalf("I02: event %d after event %d", e.Seq, before.Seq)
	}
	if before.End != nil {
		t.Fatalf("I01: %s after the end", e.Type())
	}
	switch b := e.Body.(type) {
	case Began:
		mayBegin(t, before, e.Time)
		if before.Attempt != nil && before.Attempt.InAir() {
			t.Fatalf("I10: attempt %d begins while attempt %d is in the air", b.Attempt, before.Attempt.ID)
		}
		maySwitch(t, before, b)
		mayDeliver(t, before)
		mayContinue(t, before, b, after)
		mayRetry(t, before, e.Time)
	case ToolBegan:
		mayBegin(t, before, e.Time)
	case Waiting:
		mayBegin(t, before, e.Time)
		mayWait(t, before, b)
	case Accepted:
		mayAccept(t, before, b, after)
	case Answered:
		if !reflect.DeepEqual(after.Call, Call{}) {
			t.Fatalf("I40: an answer leaves counters: %+v", after.Call)
		}
	}
	if _, ok := e.Body.(Answered); !ok && after.Call.Attempts < before.Call.Attempts {
		t.Fatalf("I40: %s resets the attempts", e.Type())
	}
	if after.Usage.Total() < before.Usage.Total() {
		t.Fatalf("I41: %s lowers the usage", e.Type())
	}
	settled := func(r *Run) int64 { return r.Spent.Tokens - r.reserved.Tokens }
	if settled(after) < settled(before) {
		t.Fatalf("I41: %s lowers the cost", e.Type())
	}
}

// mayDeliver is I53: after an answer whose caller has seen a part of it, no other begins; and
// a caller gets one answer.
func mayDeliver(t tb, r *Run) {
	t.Helper()
	if r.Policy.Tools != ToolsOfCaller {
		return
	}
	if r.Rounds > 0 {
		t.Fatal("I53: a caller's call goes on after its answer")
	}
	if a := r.Attempt; a != nil && a.Shown != ShownNothing && r.Policy.Delivery == DeliverFinal {
		t.Fatal("I53: another answer begins after its caller has seen a part of one")
	}
	if r.Lost {
		t.Fatal("a call begins, and what was asked is nowhere")
	}
}

// mayContinue is I09 and I53: an attempt begins with the text of the one that it goes on from, or
// that is withdrawn; and after what a caller has seen nothing else follows.
func mayContinue(t tb, before *Run, b Began, after *Run) {
	t.Helper()
	a := before.Attempt
	switch {
	case a == nil || b.Again:
		return
	case b.Continues != 0:
		if b.Continues != a.ID || b.Withdraws != 0 || !a.Continuable || after.Attempt.Text != a.Text {
			t.Fatalf("I09: attempt %d goes on from %q, which began as %q", b.Attempt, a.Text, after.Attempt.Text)
		}
	case before.Policy.Delivery == DeliverContinued && a.Shown != ShownNothing:
		t.Fatal("I53: an answer begins anew after its caller has seen a part of one")
	case len(a.Text) > 0 && b.Withdraws != a.ID || len(after.Attempt.Text) > 0:
		t.Fatalf("I09: the text of attempt %d is not withdrawn", a.ID)
	}
}

// mayBegin is I11 and I22.
func mayBegin(t tb, r *Run, now time.Time) {
	t.Helper()
	if r.cancelled {
		t.Fatal("I22: something begins after a cancel")
	}
	if r.Policy.Budget.exhausted(r.Spent) != "" && !r.toolsInAir() {
		t.Fatal("I11: something begins on a used-up budget")
	}
	if r.Policy.Timeouts.Run > 0 && now.After(r.deadline()) || r.Policy.Timeouts.MaxTurn > 0 && r.parkedFrom.IsZero() && now.After(r.turnEnd()) {
		t.Fatal("I11: something begins after the deadline")
	}
}

// TestNoWaitBeginsTooLate lets people, and a hook, take all the time that a run has before
// its decision would have it wait, and a failed call all of its budget.
func TestNoWaitBeginsTooLate(t *testing.T) {
	slowHook := stories(t)["late_resume"]()
	slowHook.start.Policy.AutoRecover = true
	slowHook.start.Policy.Timeouts.Run = 5_000
	slowHook.models = map[string][]outcome{"a/one": {{took: 4 * time.Second, fail: failure.NewFailure(failure.KindUnavailable, failure.OriginModel, failure.PhaseMidStream, nil)}}}
	slowHook.vote = func(string, *Run) Vote { return Vote{Action: ActionRetry, Delay: 500} }
	poor := stories(t)["late_resume"]()
	poor.start.Policy.Timeouts.Run, poor.start.Policy.Budget.Tokens = 172_800_000, 10
	poor.models["a/one"][1].usage.InputTokens = 20
	for name, tt := range map[string]struct {
		w     *world
		hours time.Duration // that the hook takes
	}{"people": {stories(t)["late_resume"](), 0}, "a hook": {slowHook, 1}, "no budget": {poor, 0}} {
		t.Run(name, func(t *testing.T) {
			y := newToy(tt.w)
			over := false
			y.check = func(before *Run, e Event, _ *Run) {
				switch e.Body.(type) {
				case Began, Waiting:
					mayBegin(t, before, e.Time)
				case Voted:
					y.now = y.now.Add(tt.hours * time.Hour)
				}
				over = over || before.expired == failure.TimerRun || before.Open != nil && before.Open.Failure.Kind == failure.KindBudget
			}
			y.start(t)
			y.loop(t)
			if !over {
				t.Error("neither time nor budget was ever used up")
			}
		})
	}
}

// mayRetry is I12's pause, I13's hint and I17.
func mayRetry(t *rapid.T, r *Run, now time.Time) {
	o := r.Open
	if o == nil {
		return
	}
	if o.isOfTool() && o.Decision != nil && o.Decision.Action == ActionNone {
		return // the model is told what its tool did
	}
	if o.Decision == nil || o.Decision.Action != ActionRetry && o.Decision.Action != ActionSwitchModel {
		t.Fatalf("a call begins on decision %+v", o.Decision)
	}
	if o.Accepted {
		return
	}
	if !r.Policy.AutoRecover {
		t.Fatal("I17: a decision acts without a person")
	}
	waited := now.Sub(o.At)
	if r.Call.Attempts >= 2 && waited < MinDelay.Duration() {
		t.Fatalf("I12: attempt %d after %s", r.Call.Attempts+1, waited)
	}
	if o.Decision.Action == ActionRetry && (waited < o.Failure.RetryAfter.Duration() || now.Before(o.Failure.ResetsAt)) {
		t.Fatalf("I13: the provider's demand is undercut after %s", waited)
	}
}

// maySwitch is I19, and I39 as far as the alternatives say what cools.
func maySwitch(t *rapid.T, r *Run, b Began) {
	if !slices.Contains(r.Policy.Models, b.Model) {
		t.Fatalf("I19: %s is not on the allow-list", b.Model)
	}
	if o := r.Open; o != nil && b.Model != r.Model && !o.offers(b.Model) {
		t.Fatalf("I39: %s was no alternative", b.Model)
	}
}

// mayWait is I13 and I14.
func mayWait(t *rapid.T, r *Run, w Waiting) {
	wait := w.Until.Sub(r.Open.At)
	if wait < 0 || r.Open.Decision.Delay < 0 {
		t.Fatalf("I13: a wait of %s", wait)
	}
	if wait > MaxInProcessWait.Duration() && w.For != WaitReset {
		t.Fatalf("I14: a wait of %s in process", wait)
	}
	if !r.Open.Accepted && r.Policy.Timeouts.Run > 0 && w.Until.After(r.deadline()) {
		t.Fatal("I14: a wait longer than the time left")
	}
}

// mayAccept is I18 and I23: the same answer again changes nothing, and one at the
// last instant or after a cancel neither.
func mayAccept(t *rapid.T, before *Run, b Accepted, after *Run) {
	if _, ok := after.answerable(b.Suggestion, after.Last); ok {
		t.Fatal("I18: a suggestion can be answered twice")
	}
	for _, e := range []Body{CancelRequested{}, Due{Timer: failure.TimerExpiry, Failure: before.Open.Seq}} {
		late := *before
		open := *before.Open
		late.Open = &open
		if _, isDue := e.(Due); isDue && before.offer != suggestionOpen {
			continue
		}
		if err := late.Apply(Event{Run: before.ID, Seq: before.Seq + 1, Time: after.Last, Body: e}); err != nil {
			t.Fatal(err)
		}
		if _, ok := late.answerable(b.Suggestion, after.Last); ok {
			t.Fatalf("I23: an answer still counts after %s", e.eventType())
		}
	}
}

// oneEnd is I01: a run ends exactly once; if nobody answers its suggestion, when that expires.
func oneEnd(t *rapid.T, y *toy) {
	ends := 0
	for _, e := range y.told {
		if _, ok := e.Body.(Ended); ok {
			ends++
		}
	}
	if ends != 1 || y.run.End == nil {
		t.Fatalf("I01: %d ends, status %s", ends, y.run.Status)
	}
	if again := Next(y.run); again != nil {
		t.Fatalf("I01: after the end Next wants %v", keys(again))
	}
}

func usageAdds(t *rapid.T, y *toy) {
	var sum llm.Usage
	for _, e := range y.told {
		switch b := e.Body.(type) {
		case Answered:
			sum = sum.Plus(b.Usage)
		case Failed:
			sum = sum.Plus(b.Usage)
		}
	}
	if sum != y.run.Usage {
		t.Fatalf("I41: the attempts used %+v, the run %+v", sum, y.run.Usage)
	}
}

// TestI26 folds every prefix of random logs and compares it with the live state.
func TestI26(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := newToy(drawWorld(t)())
		y.check = func(_ *Run, e Event, live *Run) {
			if e.Seq > 60 {
				return // folding every prefix is quadratic
			}
			folded, err := Fold(y.told)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(folded, live) {
				t.Fatalf("I26: after event %d (%s) the fold is\n%+v\nand live is\n%+v", e.Seq, e.Type(), folded, live)
			}
			if !reflect.DeepEqual(Next(folded), Next(live)) {
				t.Fatalf("I26: after event %d Next differs", e.Seq)
			}
		}
		y.start(t)
		y.loop(t)
	})
}

// TestI05I12I25 crashes random runs once and again: they settle within the limits,
// whatever their plugins say.
func TestI05I12I25(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		story := drawWorld(t)
		y := play(t, story())
		for range rapid.IntRange(1, 6).Draw(t, "crashes") {
			cut := rapid.IntRange(1, len(y.log)).Draw(t, "cut")
			w := story()
			w.journal = journalOf(y.told[:cut], true)
			y = resume(t, w, y.log[:cut])
			before := finishedTools(y.run)
			ran := map[string]int{}
			for _, id := range before {
				ran[id] = w.journal[id]
			}
			y.loop(t)
			oneEnd(t, y)
			withinLimits(t, cut, y)
			for _, id := range before {
				if w.journal[id] != ran[id] {
					t.Fatalf("I04: tool call %s had a result and ran again", id)
				}
			}
		}
	})
}

// TestApplyTakesAnything applies events in an order that the heart would never write: no panic.
func TestApplyTakesAnything(t *testing.T) {
	var names []string
	for name := range bodies {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		log := play(t, drawWorld(t)()).log
		list := events(t, log)
		r := &Run{}
		for i := range rapid.IntRange(1, 60).Draw(t, "events") {
			e := rapid.SampledFrom(list).Draw(t, "event")
			if rapid.Bool().Draw(t, "bare") {
				e.Body = reflect.Zero(bodies[rapid.SampledFrom(names).Draw(t, "name")]).Interface().(Body)
			}
			if i == 0 {
				e = list[0]
			}
			e.Seq = uint64(i + 1)
			if err := r.Apply(e); err != nil {
				t.Fatal(err)
			}
			Next(r)
		}
	})
}
