package rescue

import (
	"cmp"
	"strconv"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Kind is what a stretch of a run's time was spent on.
type Kind string

// The kinds of spans.
const (
	KindAttempt Kind = "attempt"
	KindTool    Kind = "tool"
	KindWait    Kind = "wait"
	KindPerson  Kind = "person"  // a suggestion is open
	KindSummary Kind = "summary" // the conversation is summed up so that it fits
	KindFailure Kind = "failure" // a single moment: something other than an attempt or a tool call failed
)

// State is how a span ended.
type State string

// The states of a span.
const (
	StateOpen    State = "open"
	StateOK      State = "ok"
	StateFailed  State = "failed"
	StateStopped State = "stopped"
	StateUnknown State = "unknown" // it may or may not have taken effect
)

// Span is a stretch of a run's time.
type Span struct {
	Kind    Kind         `json:"kind" enum:"attempt,tool,wait,person,summary,failure"`
	State   State        `json:"state" enum:"open,ok,failed,stopped,unknown"`
	Label   string       `json:"label" doc:"A model, a tool, or what it is."`
	Detail  string       `json:"detail,omitempty" doc:"How it went, in a few words."`
	Model   string       `json:"model,omitempty"`
	From    int64        `json:"from" doc:"In milliseconds after the run began."`
	To      int64        `json:"to,omitempty" doc:"Of a span that is open, not yet known."`
	Seq     uint64       `json:"seq" doc:"Of the event that it began with."`
	EndSeq  uint64       `json:"endSeq,omitempty" doc:"Of the event that it ended with."`
	Attempt *SpanAttempt `json:"attempt,omitempty"`
	Tool    *SpanTool    `json:"tool,omitempty"`
	Failure *SpanFailure `json:"failure,omitempty" doc:"What went wrong, and what was said and decided about it."`
}

// SpanAttempt is the model call of a span.
type SpanAttempt struct {
	ID         uint64          `json:"id"`
	Round      int             `json:"round"`
	Try        int             `json:"try" doc:"Within one model call, from 0."`
	Retry      bool            `json:"retry,omitempty" doc:"The same model once more."`
	Switched   bool            `json:"switched,omitempty" doc:"Another model than the attempt before."`
	Continues  uint64          `json:"continues,omitempty" doc:"The attempt from whose text it went on."`
	Messages   int             `json:"messages" doc:"How many messages of asked it was sent."`
	Bytes      int             `json:"bytes,omitempty" doc:"What they come to, about."`
	Adjust     recovery.Adjust `json:"adjust,omitzero"`
	FirstEvent failure.Millis  `json:"firstEventMs,omitempty"`
	RequestID  string          `json:"requestId,omitempty"`
	Tokens     int64           `json:"tokens,omitempty"`
	Written    int64           `json:"outputTokens,omitempty" doc:"Of them, those that the model wrote."`
	Cost       int64           `json:"microdollars,omitempty"`
	Text       string          `json:"text,omitempty" doc:"The beginning of what it said."`
	TextBytes  int             `json:"textBytes,omitempty" doc:"How long all of that is."`
	Headers    *llm.Headers    `json:"headers,omitempty" doc:"Of an attempt that failed: those of its headers that help to explain it. Without a value: it may be secret."`
}

// SpanTool is the tool call of a span.
type SpanTool struct {
	CallID  string `json:"callId"`
	Try     int    `json:"try" doc:"From 0: a repeated call has more."`
	By      string `json:"by,omitempty" enum:"engine,caller" doc:"Who carries it out; the runner where it is left out."`
	Args    string `json:"args,omitempty" doc:"The beginning of what it was called with."`
	Result  string `json:"result,omitempty" doc:"The beginning of what came back."`
	Outcome string `json:"outcome,omitempty" enum:"ok,error,unknown"`
}

const (
	keyWait    = "wait"
	keyPerson  = "person"
	keySummary = "summary"
	keyStore   = "store"
)

// waitsForTool is the label of a wait for a tool that the run's caller carries out.
const waitsForTool = "Wait for tool"

func keyAttempt(id uint64) string { return "a" + strconv.FormatUint(id, 10) }
func keyTool(call string) string  { return "t" + call }

func stateOf(ok bool) State {
	if ok {
		return StateOK
	}
	return StateFailed
}

func (b *Builder) begin(e recovery.Event, key string, s Span) *Span {
	s.State, s.From, s.Seq = StateOpen, b.at(e.Time), e.Seq
	b.open[key] = &s
	b.spans = append(b.spans, &s)
	return &s
}

// end closes the span that was opened under key, if it is still open.
func (b *Builder) end(e recovery.Event, key string, state State, detail string) *Span {
	s := b.open[key]
	if s == nil {
		return nil
	}
	delete(b.open, key)
	s.State, s.To, s.EndSeq = state, b.at(e.Time), e.Seq
	s.Detail = cmp.Or(words.Clip(words.Tidy(detail), recovery.MaxText), s.Detail)
	return s
}

func (b *Builder) endAll(e recovery.Event) {
	for _, s := range b.spans {
		if s.State == StateOpen {
			s.State, s.To, s.EndSeq = StateStopped, b.at(e.Time), e.Seq
		}
	}
	clear(b.open)
	b.unpark(e.Time)
}

// claimed ends the spans that the previous owner left open. A failed call has an event of its own.
func (b *Builder) claimed(e recovery.Event) {
	for key, s := range b.open {
		if s.Kind == KindTool && s.Tool.By != recovery.ByCaller || s.Kind == KindSummary || key == keyStore {
			b.end(e, key, StateUnknown, "the program stopped")
		}
	}
}

func (b *Builder) began(e recovery.Event, body recovery.Began, before string) {
	b.end(e, keyWait, StateOK, "")
	switched := body.Model != before
	if body.Retry {
		b.out.Figures.Retries++
	}
	if switched {
		b.out.Figures.Switches++
	}
	s := b.begin(e, keyAttempt(body.Attempt), Span{Kind: KindAttempt, Label: body.Model, Model: body.Model, Detail: "asked"})
	s.Attempt = &SpanAttempt{
		ID: body.Attempt, Round: body.Round, Try: body.Try, Retry: body.Retry, Switched: switched, Continues: body.Continues,
		Messages: len(b.run.Messages), Bytes: b.bytes(), Adjust: body.Adjust,
	}
	b.failed = nil
}

func (b *Builder) hasAnswered(e recovery.Event, body recovery.Answered) {
	b.endRescue(e.Time)
	s := b.end(e, keyAttempt(body.Attempt), StateOK, "answered")
	if s == nil {
		return
	}
	cost := b.run.Policy.Cost(s.Model, body.Usage)
	b.answered = b.answered.Plus(cost)
	s.said(body.Message.Text())
	s.Attempt.FirstEvent, s.Attempt.RequestID = body.FirstEvent, body.RequestID
	s.Attempt.used(body.Usage, cost)
	if calls := body.Message.Calls(); len(calls) > 0 {
		s.Detail = "asked for " + words.Counted(int64(len(calls)), " tool call")
		if len(calls) > 1 {
			s.Detail += "s"
		}
	}
	if body.Stop == llm.StopLength {
		s.Detail = "cut at the output limit"
	}
}

func (a *SpanAttempt) used(u llm.Usage, cost recovery.Budget) {
	a.Tokens, a.Written, a.Cost = u.Total(), u.OutputTokens, cost.Microdollars
}

func (s *Span) said(text string) {
	s.Attempt.Text, s.Attempt.TextBytes = words.Clip(text, maxText), len(text)
}

func (b *Builder) toolBegan(e recovery.Event, body recovery.ToolBegan) {
	s := b.begin(e, keyTool(body.CallID), Span{Kind: KindTool, Label: body.Name, Detail: "called"})
	s.Tool = &SpanTool{CallID: body.CallID, Try: body.Try, By: body.By}
	b.out.Figures.Tools++
	if body.Try > 0 {
		b.out.Figures.ToolsRepeated++
	}
	for _, t := range b.run.Pending {
		if t.Call.ID == body.CallID {
			s.Tool.Args = words.Clip(string(t.Call.Args), maxText)
		}
	}
}

func (b *Builder) toolReturned(e recovery.Event, body recovery.ToolReturned) {
	if s := b.open[keyWait]; s != nil && s.Label == waitsForTool {
		b.end(e, keyWait, StateOK, "")
	}
	state, detail := StateOK, "returned"
	switch body.Outcome {
	case recovery.OutcomeError:
		state, detail = StateFailed, "failed"
	case recovery.OutcomeUnknown:
		state, detail = StateUnknown, "may or may not have worked"
	case recovery.OutcomeOK:
	}
	if s := b.end(e, keyTool(body.CallID), state, detail); s != nil {
		s.Tool.Result, s.Tool.Outcome = words.Clip(body.Result.Text, maxText), string(body.Outcome)
	}
}

func (b *Builder) accepted(e recovery.Event, body recovery.Accepted) {
	b.out.Figures.Answers++
	b.unpark(e.Time)
	detail := cmp.Or(e.Text, "You chose: "+body.Action)
	b.end(e, keyWait, StateStopped, detail)
	b.end(e, keyPerson, StateOK, detail)
}

// unpark subtracts the time that a person was asked from the time that the run was being rescued.
func (b *Builder) unpark(now time.Time) {
	if !b.parked.IsZero() && !b.rescuing.IsZero() {
		b.rescuing = b.rescuing.Add(max(0, now.Sub(b.parked)))
	}
	b.parked = time.Time{}
}

func (b *Builder) paused(e recovery.Event, body recovery.Paused) {
	if body.For > 0 {
		b.end(e, keyStore, StateOK, "")
		return
	}
	b.begin(e, keyStore, Span{Kind: KindWait, Label: "Wait", Detail: "for its store"})
}

func waitLabel(w recovery.Waiting) string {
	switch w.For {
	case recovery.WaitNetwork:
		return "Offline"
	case recovery.WaitTool:
		return waitsForTool
	}
	return "Wait"
}

func waitDetail(w recovery.Waiting) string {
	switch {
	case w.For == recovery.WaitReset:
		return "until the provider's reset"
	case w.For == recovery.WaitNetwork:
		return "until the connection is back"
	case w.For == recovery.WaitCaller:
		return "for its caller"
	case w.For == recovery.WaitTool:
		return "for the program that runs its tool"
	case w.Retry > 0 && w.Retry <= w.Of:
		return "before attempt " + strconv.Itoa(w.Retry) + "/" + strconv.Itoa(w.Of)
	}
	return "before " + words.ModelName(w.Model) + " is asked"
}

// copied is a copy of s for a reader while the run goes on.
func (s *Span) copied() Span {
	c := *s
	if s.Attempt != nil {
		a := *s.Attempt
		c.Attempt = &a
	}
	if s.Tool != nil {
		t := *s.Tool
		c.Tool = &t
	}
	c.Failure = s.Failure.copied()
	return c
}
