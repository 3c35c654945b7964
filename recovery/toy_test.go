package recovery

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// begin is when every run of these tests starts.
var begin = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// forever is how long something takes that never ends.
const forever = 1000 * time.Hour

// outcome is how one model call ends.
type outcome struct {
	took  time.Duration
	fail  *failure.Failure
	text  string
	cut   bool // at the output limit
	calls []llm.ToolCall
	usage llm.Usage
	shown Shown
	// continuable says of a failure that another attempt may go on from its text.
	continuable bool
	// offline is how long after a failure this machine has no connection; 0 = it has one.
	offline time.Duration
}

// world is everything outside the heart. What it answers depends on the log only,
// so that a resumed run meets the same world; the journal is its own memory.
type world struct {
	start  Started
	before []llm.Message        // what start continues
	models map[string][]outcome // in order; the last one repeats
	vote   func(plugin string, r *Run) Vote
	// toolVote is what plugins say of tools that failed.
	toolVote func(plugin string, t *ToolRun) Vote
	person   func(r *Run) string    // the action taken on an open suggestion, "" for none
	onWait   func(r *Run) string    // the action taken on a live wait
	cuts     []cutShort             // what is done about calls that are slow, one after the other; the last one repeats
	deploys  uint64                 // the first so many attempts are handed over
	cancel   func(r *Run) bool      // a person's wish to end it now
	tool     map[string]toolOutcome // by name
	journal  map[string]int         // tool effects by call id
}

// cutShort is a person who cuts a model call short that takes too long.
type cutShort struct {
	after  time.Duration
	action string
}

type toolOutcome struct {
	took  time.Duration
	text  string
	panic bool
	lost  bool // its outcome is unknown
	fails int  // the first so many tries of a call
}

// toy is a shell without I/O: its time is virtual, its log is JSON in memory.
type toy struct {
	w     *world
	log   [][]byte
	told  []Event // what log was read as
	run   *Run
	now   time.Time
	used  map[string]int // outcomes used up, by model
	check func(before *Run, e Event, after *Run)
	watch func(e Event, effects []Effect)
	saved string // what the attempt in the air had said when its process was lost
}

// maxToyEvents bounds a run that the heart would let go on for ever.
const maxToyEvents = 3000

// play runs w from the beginning to its end.
func play(t tb, w *world) *toy {
	t.Helper()
	y := newToy(w)
	y.start(t)
	y.loop(t)
	return y
}

func newToy(w *world) *toy {
	if w.journal == nil {
		w.journal = map[string]int{}
	}
	return &toy{w: w, run: &Run{}, now: begin, used: map[string]int{}}
}

func (y *toy) start(t tb) {
	t.Helper()
	y.append(t, y.w.start)
	y.append(t, Claimed{Owner: "o", Epoch: 1, Holds: y.w.start.Policy.Keep == KeepFigures})
}

// resume is a new process that finds the log, after the old one was lost.
func resume(t tb, w *world, log [][]byte) *toy {
	t.Helper()
	y := newToy(w)
	for _, stored := range log {
		y.take(t, stored)
	}
	y.now = y.run.Last.Add(time.Second)
	y.append(t, Claimed{Owner: "o2", Epoch: y.run.Epoch + 1})
	return y
}

func (y *toy) append(t tb, b Body) {
	t.Helper()
	stored, err := json.Marshal(Event{Run: "r1", Seq: y.run.Seq + 1, Time: y.now, Body: b})
	if err != nil {
		t.Fatal(err)
	}
	y.take(t, stored)
}

// take applies an event in its stored form.
func (y *toy) take(t tb, stored []byte) {
	t.Helper()
	var e Event
	if err := json.Unmarshal(stored, &e); err != nil {
		t.Fatal(err)
	}
	if f, ok := e.Body.(Failed); ok && f.Attempt != 0 && f.Failure.Kind != failure.KindInterrupted {
		y.used[y.run.Attempt.Model]++
	}
	if _, ok := e.Body.(Answered); ok {
		y.used[y.run.Attempt.Model]++
	}
	var before Run
	if y.check != nil {
		before = *y.run
		if before.Attempt != nil {
			attempt := *before.Attempt
			before.Attempt = &attempt
		}
		if before.Open != nil {
			open := *before.Open
			before.Open = &open
		}
	}
	if err := y.run.Apply(e); err != nil {
		t.Fatal(err)
	}
	y.run.Carry(y.w.before)
	y.log, y.told = append(y.log, stored), append(y.told, e)
	if y.watch != nil {
		y.watch(e, Next(y.run))
	}
	if y.check != nil {
		y.check(&before, e, y.run)
	}
}

// loop is the whole of a shell.
func (y *toy) loop(t tb) {
	t.Helper()
	for y.step(t) {
		if len(y.log) > maxToyEvents {
			t.Fatalf("the run does not settle; it ends with\n%s", y.tail())
		}
	}
}

func (y *toy) tail() string {
	var b strings.Builder
	for _, line := range y.log[max(0, len(y.log)-12):] {
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}

func (y *toy) step(t tb) bool {
	t.Helper()
	effects := Next(y.run)
	if len(effects) == 0 {
		return false
	}
	if effects[0].Record != nil {
		if len(effects) != 1 {
			t.Fatalf("a Record is not alone: %v", keys(effects))
		}
		y.append(t, y.facts(effects[0].Record))
		return true
	}
	if y.persons(t) || y.stopped(t, effects) || y.intents(t, effects) || y.cutsShort(t) || y.deployed(t) {
		return true
	}
	return y.first(t, effects)
}

// facts adds to a failure of the heart's own what only a shell knows.
func (y *toy) facts(b Body) Body {
	if f, ok := b.(Failed); ok {
		if f.Failure.Kind == failure.KindInterrupted && f.Text == "" {
			f = y.run.Saying(f, y.saved)
		}
		f.Alternatives = y.w.alternatives(y.run.Model)
		return f
	}
	return b
}

// persons applies what people do at this moment.
func (y *toy) persons(t tb) bool {
	t.Helper()
	switch r := y.run; {
	case y.w.cancel != nil && y.w.cancel(r):
		y.append(t, CancelRequested{})
		return true
	case r.SuggestionOpen() && y.w.person != nil:
		if action := y.w.person(r); action != "" {
			y.now = y.now.Add(time.Minute)
			if _, offered := r.Suggestion.Button(action); !offered {
				action = ButtonStop
			}
			y.append(t, Accepted{Suggestion: r.Suggestion.ID, Action: action})
			return true
		}
	case r.Wait != nil && r.Wait.For != WaitStore && y.w.onWait != nil:
		if action := y.w.onWait(r); action != "" {
			y.now = y.now.Add(10 * time.Millisecond)
			y.append(t, Accepted{Suggestion: r.Wait.ID, Action: action})
			return true
		}
	}
	return false
}

// stopped writes down the end of tool calls that Next does not want any more.
func (y *toy) stopped(t tb, effects []Effect) bool {
	t.Helper()
	if y.run.Settled() {
		return false
	}
	wanted := map[string]bool{}
	for _, e := range effects {
		if e.Tool != nil {
			wanted[e.Tool.Call.ID] = true
		}
	}
	for _, p := range y.run.Pending {
		if p.State == ToolCallInAir && !wanted[p.Call.ID] && p.By != ByCaller {
			y.append(t, ToolReturned{CallID: p.Call.ID, Outcome: OutcomeUnknown, Result: unknownResult(p.Call)})
			return true
		}
	}
	return false
}

// intents writes down what is about to begin.
func (y *toy) intents(t tb, effects []Effect) bool {
	t.Helper()
	for _, e := range effects {
		switch {
		case e.Call != nil && !e.Call.InAir:
			y.append(t, e.Call.Intent)
			return true
		case e.Summarise != nil && !e.Summarise.InAir:
			y.append(t, e.Summarise.Intent)
			return true
		case e.Tool != nil && !e.Tool.InAir:
			y.append(t, e.Tool.Intent)
			y.w.journal[e.Tool.Call.ID]++
			return true
		}
	}
	return false
}

// cutsShort lets a person cut the call in the air short, if it takes longer than that.
func (y *toy) cutsShort(t tb) bool {
	t.Helper()
	id, _ := y.run.CutShort()
	if id == "" || len(y.w.cuts) == 0 {
		return false
	}
	a, cut := y.run.Attempt, y.w.cuts[min(y.run.Call.Granted, len(y.w.cuts)-1)]
	if y.w.outcome(a.Model, y.used[a.Model]).took <= cut.after {
		return false
	}
	y.now = a.BeganAt.Add(cut.after)
	for _, b := range y.run.Answering(Accepted{Suggestion: id, Action: cut.action}, y.now) {
		if failed, ok := b.(Failed); ok {
			b = y.run.Saying(failed, "partial of "+a.Model)
		}
		y.append(t, y.facts(b))
	}
	return true
}

// first advances the time until the first of the effects is over.
func (y *toy) first(t tb, effects []Effect) bool {
	t.Helper()
	var at time.Time
	var then []Body
	for _, e := range effects {
		if when, bodies := y.result(e); at.IsZero() || when.Before(at) {
			at, then = when, bodies
		}
	}
	if at.After(y.now) {
		y.now = at
	}
	for _, b := range then {
		y.append(t, b)
	}
	return true
}

func (y *toy) result(e Effect) (time.Time, []Body) {
	switch {
	case e.Timer != nil:
		if b, ok := e.Timer.Write.(ToolReturned); ok {
			return y.callers(b, e.Timer.At)
		}
		return e.Timer.At, []Body{e.Timer.Write}
	case e.Summarise != nil:
		keep := e.Summarise.Intent.Keep
		return y.run.Last.Add(time.Second), []Body{Compacted{
			Messages: []llm.Message{SummaryMessage("so far so good", y.run.Messages[:keep])}, Keep: keep,
			Stage: CompactSummary, Model: e.Summarise.Intent.Model, Usage: llm.Usage{InputTokens: 100, OutputTokens: 10},
		}}
	case e.Watch != nil:
		offline := y.w.outcome(y.run.Attempt.Model, y.used[y.run.Attempt.Model]-1).offline
		return y.run.Open.At.Add(offline), []Body{e.Watch.Due}
	case e.Ask != nil:
		plugin := e.Ask.Plugins[0]
		v := y.voteOn(e.Ask.Occasion, plugin)
		v.Plugin, v.Latency = plugin, 1
		return y.now.Add(time.Millisecond), []Body{Voted{Occasion: e.Ask.Occasion, Vote: v}}
	case e.Tool != nil:
		return y.returned(e.Tool.Call)
	}
	a := y.run.Attempt
	o := y.w.outcome(a.Model, y.used[a.Model])
	if o.fail == nil {
		stop := llm.StopEnd
		if o.cut {
			stop = llm.StopLength
		}
		begun := a.Text[:min(a.Base, len(a.Text))]
		o.text = begun + strings.TrimPrefix(o.text, begun)
		return a.BeganAt.Add(o.took), []Body{y.answered(Answered{Attempt: a.ID, Message: o.message(a.Model), Usage: o.usage, Stop: stop})}
	}
	failed := Failed{
		Attempt: a.ID, Failure: *o.fail, Usage: o.usage, Alternatives: y.w.alternatives(a.Model), Offline: o.offline > 0, Shown: o.shown, Continuable: o.continuable,
	}
	if y.run.Policy.Keep == KeepFigures {
		return a.BeganAt.Add(o.took), []Body{y.run.Saying(failed, "0123456789")}
	}
	return a.BeganAt.Add(o.took), []Body{y.run.Saying(failed, "partial of "+a.Model)}
}

// answered leaves out of an answer what the run does not keep.
func (y *toy) answered(b Answered) Answered {
	if y.run.Policy.Keep == KeepFigures {
		b.Said, b.Message.Parts = DigestOf([]byte(b.Message.Text())), []llm.Part{}
	}
	return b
}

func (y *toy) returned(call llm.ToolCall) (time.Time, []Body) {
	o := y.w.tool[call.Name]
	result := llm.ToolResult{CallID: call.ID, Name: call.Name, Text: o.text, IsError: o.panic}
	if t := y.run.tool(call.ID); t.Tries <= o.fails {
		result.Text, result.IsError = call.Name+" is busy", true
		return t.BeganAt.Add(o.took), []Body{ToolReturned{CallID: call.ID, Outcome: OutcomeError, Result: result}}
	}
	if o.lost {
		return y.toolBegan(call).Add(o.took), []Body{ToolReturned{CallID: call.ID, Outcome: OutcomeUnknown, Result: unknownResult(call)}}
	}
	if !o.panic {
		return y.toolBegan(call).Add(o.took), []Body{ToolReturned{CallID: call.ID, Outcome: OutcomeOK, Result: result}}
	}
	f := failure.NewFailure(failure.KindToolFailure, failure.OriginTool, failure.PhaseTool, nil)
	f.Tool = call.Name
	return y.toolBegan(call).Add(o.took), []Body{
		ToolReturned{CallID: call.ID, Outcome: OutcomeError, Result: result},
		Failed{CallID: call.ID, Failure: *f, Alternatives: y.w.alternatives(y.run.Model)},
	}
}

// callers is what the run's caller returns for a call: its result, unless that comes too late. A
// result for a call of an earlier process counts like any other.
func (y *toy) callers(givenUp ToolReturned, until time.Time) (time.Time, []Body) {
	call := y.run.tool(givenUp.CallID)
	at := call.BeganAt.Add(y.w.tool[call.Call.Name].took)
	if !at.Before(until) {
		return until, []Body{givenUp}
	}
	b, err := y.run.Return(givenUp.CallID, y.w.tool[call.Call.Name].text, false)
	if err != nil {
		panic(err)
	}
	return at, []Body{b}
}

// voteOn is what the plugin says.
func (y *toy) voteOn(about Occasion, plugin string) Vote {
	if t := y.run.FailedTool(about); t != nil && y.w.toolVote != nil {
		return y.w.toolVote(plugin, t)
	}
	return y.w.vote(plugin, y.run)
}

func (y *toy) toolBegan(call llm.ToolCall) time.Time { return y.run.tool(call.ID).BeganAt }

func (w *world) outcome(model string, n int) outcome {
	script := w.models[model]
	if len(script) == 0 {
		return outcome{took: forever}
	}
	return script[min(n, len(script)-1)]
}

// alternatives are the models of the policy without the one that just failed.
func (w *world) alternatives(failed string) []Alternative {
	var list []Alternative
	for _, m := range w.start.Policy.Models {
		if m != failed {
			list = append(list, Alternative{Model: m})
		}
	}
	return list
}

func (o outcome) message(model string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Model: model}
	if o.text != "" {
		m.Parts = append(m.Parts, llm.Part{Text: o.text})
	}
	for _, c := range o.calls {
		m.Parts = append(m.Parts, llm.Part{Call: &c})
	}
	return m
}

func keys(effects []Effect) []string {
	var list []string
	for _, e := range effects {
		list = append(list, e.Key)
	}
	return list
}

func events(t tb, log [][]byte) []Event {
	t.Helper()
	list := make([]Event, len(log))
	for i, stored := range log {
		if err := json.Unmarshal(stored, &list[i]); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}
