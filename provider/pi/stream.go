package pi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

const (
	// settleTime is how long a Pi that does not say when a run is over may take to go on
	// after all; it does so within some 10 ms.
	settleTime = 250 * time.Millisecond
	// pingTime is how often whoever hears is told that Pi lives while it is known to be busy
	// with something of its own.
	pingTime = 10 * time.Second

	maxAnswer = 64 << 20 // bytes of one message
)

// messageStream is one call of Stream, from Pi's events to deltas.
type messageStream struct {
	session  *session
	model    string // full name
	provider string // in Pi's words
	yield    func(llm.Delta, error) bool

	begun  bool // DeltaStart was told
	shown  bool // … and something after it
	worded bool // … of the message that is being heard: text
	size   int  // bytes told
	calls  map[int]*streamedCall

	underway bool // Pi's agent has begun since the prompt, or had before
	ended    *message
	seen     observedRequests // of the requests that led to the message which ends
	failed   *failure.Failure
	stopping bool // Pi's agent has ended, and no retry was announced
	busy     bool // Pi compacts, or sleeps
	over     bool // nothing more is told
}

// streamedCall is a tool call as its arguments come in.
type streamedCall struct {
	id   string // "" = not told yet
	args strings.Builder
}

// tell yields a delta; whoever does not want any more has the turn ended.
func (h *messageStream) tell(d llm.Delta) {
	if h.over {
		return
	}
	if d.Progress() && d.Kind != llm.DeltaStart {
		h.begin()
		h.shown = true
	}
	if h.size += len(d.Text); h.size > maxAnswer {
		h.session.abort()
		h.fail(h.classify(failure.Evidence{Kind: failure.KindMalformedResponse, Err: fmt.Errorf("the message has more than %d bytes", maxAnswer), Phase: h.phase()}))
		return
	}
	if !h.over && !h.yield(d, nil) {
		h.over = true
		h.session.abort()
	}
}

func (h *messageStream) begin() { h.accepted("") }

// accepted tells that an answer begins, once. Who hears of it first may know the request's id.
func (h *messageStream) accepted(requestID string) {
	if !h.begun {
		h.begun = true
		h.tell(llm.Delta{Kind: llm.DeltaStart, RequestID: requestID})
	}
}

// stop ends what is told; whoever hears it may leave, and Pi goes on.
func (h *messageStream) stop(reason llm.StopReason) {
	h.begin()
	if !h.over {
		h.over = true
		h.yield(llm.Delta{Kind: llm.DeltaStop, Stop: reason}, nil)
	}
}

func (h *messageStream) fail(err error) {
	if !h.over {
		h.over = true
		h.yield(llm.Delta{}, err)
	}
}

// hear tells what Pi says until there is a message, or a failure.
func (h *messageStream) hear(ctx context.Context, p *process) {
	s := h.session
	if p == nil {
		h.fail(h.trouble(errGone))
		return
	}
	h.calls = map[int]*streamedCall{}
	s.mu.Lock()
	h.busy = s.sleeping
	s.mu.Unlock()
	if h.busy {
		h.begin()
	}
	for !h.over {
		e, inTime, err := p.next(ctx, h.patience())
		switch {
		case err != nil && ctx.Err() != nil:
			s.abort()
			h.fail(err)
		case err != nil:
			s.rests()
			h.fail(h.died(p, err))
		case inTime:
			h.take(e)
		case h.stopping:
			h.take(event{kind: settled})
		default:
			h.tell(llm.Delta{Kind: llm.DeltaPing})
		}
	}
}

// patience is how long an event may take before silence means something; 0 = for ever.
func (h *messageStream) patience() time.Duration {
	switch {
	case h.stopping && !h.session.settles:
		return settleTime
	case h.busy:
		return pingTime
	}
	return 0
}

// take takes an event in.
func (h *messageStream) take(e event) {
	switch e.kind {
	case goesOn:
		h.goOn()
		h.tell(llm.Delta{Kind: llm.DeltaPing})
	case begins:
		h.goOn()
		h.next()
	case says:
		h.say(e.delta)
	case answers:
		h.accepted(e.text)
	case ends:
		h.seen = e.seen
		h.end(e.message)
	case sleeps:
		h.sleep(e.delay)
	case shortens:
		h.shorten(e.reason)
	case stopped:
		h.stopping = h.underway && !e.again
	case shortened:
		h.stopping, h.busy = h.underway && !e.again, e.again
	case settled:
		h.settle()
	case refused:
		h.session.rests()
		h.fail(h.refusal(e.text))
	default:
		h.tell(llm.Delta{Kind: llm.DeltaPing})
	}
}

// goOn notes that Pi is at work. A failure that it got over by itself is told only if
// something of the failed message was: that is withdrawn then, and the rest is heard next.
func (h *messageStream) goOn() {
	h.underway, h.stopping, h.busy = true, false, false
	h.session.set(func() { h.session.sleeping = false })
	if h.failed != nil && h.shown {
		h.fail(h.failed)
	}
	h.failed = nil
}

// next begins a message. One that follows another without calls belongs to the same answer.
func (h *messageStream) next() {
	if h.over {
		return
	}
	h.begin()
	if h.ended != nil && h.ended.text() != "" {
		h.tell(llm.Delta{Kind: llm.DeltaText, Text: "\n\n"})
	}
	h.ended, h.worded = nil, false
	h.calls = map[int]*streamedCall{}
}

// say tells a piece of the message. A call that has no name yet is told when it has one.
func (h *messageStream) say(d llm.Delta) {
	if d.Kind != llm.DeltaCall && d.Kind != llm.DeltaArgs {
		h.worded = h.worded || d.Kind == llm.DeltaText
		h.tell(d)
		return
	}
	c := h.calls[d.Index]
	if c == nil {
		c = &streamedCall{}
		h.calls[d.Index] = c
	}
	whole := d.Text
	if d.Kind == llm.DeltaArgs {
		c.args.WriteString(d.Text)
		if c.id == "" {
			h.tell(llm.Delta{Kind: llm.DeltaPing})
			return
		}
		h.tell(d)
		return
	}
	if c.id == "" && d.CallID != "" {
		c.id = d.CallID
		h.tell(llm.Delta{Kind: llm.DeltaCall, Index: d.Index, CallID: d.CallID, Name: d.Name})
		if c.args.Len() > 0 {
			h.tell(llm.Delta{Kind: llm.DeltaArgs, Index: d.Index, Text: c.args.String()})
		}
	}
	if c.id != "" && c.args.Len() == 0 && whole != "" {
		c.args.WriteString(whole)
		h.tell(llm.Delta{Kind: llm.DeltaArgs, Index: d.Index, Text: whole})
	}
}

// end takes the end of a message. Only one with calls is told at once: what becomes of any
// other is for Pi to say.
func (h *messageStream) end(m *message) {
	if !h.underway && m.StopReason == "aborted" {
		return // of the turn before
	}
	if h.seen != nil && len(h.seen) == 0 && m.StopReason != "error" && m.StopReason != "aborted" {
		h.session.engine.unseen(h.provider, nil)
	}
	h.begin()
	h.tell(llm.Delta{Kind: llm.DeltaUsage, Usage: m.Usage.tokens()})
	calls := m.calls()
	switch {
	case m.StopReason == "error" || m.StopReason == "aborted":
		h.failed = h.failure(m)
	case len(calls) == 0 && m.text() == "" && m.Usage == (usage{}):
		h.failed = h.classify(failure.Evidence{Kind: failure.KindEmptyResponse, Phase: failure.PhaseEndOfStream})
	case len(calls) == 0:
		if !h.worded && m.text() != "" {
			h.tell(llm.Delta{Kind: llm.DeltaText, Text: m.text()})
		}
		h.ended = m
	case m.StopReason == "length":
		h.stop(llm.StopLength)
	case h.cut():
		h.session.abort()
		kind := failure.KindMalformedResponse
		if m.StopReason == "stop" { // the provider ended it, or the connection did
			kind = failure.KindStreamInterrupted
		}
		h.fail(h.classify(failure.Evidence{
			Kind: kind, Phase: failure.PhaseEndOfStream,
			Err: errors.New("the arguments of a tool call do not end; old versions of Pi begin to carry it out all the same"),
		}))
	default:
		h.finishCalls(calls)
		h.stop(llm.StopToolUse)
	}
}

// cut reports whether the arguments of a call do not end.
func (h *messageStream) cut() bool {
	for _, c := range h.calls {
		if args := c.args.String(); args != "" && !json.Valid([]byte(args)) {
			return true
		}
	}
	return false
}

// finishCalls tells the calls that were not told while they came.
func (h *messageStream) finishCalls(calls []part) {
	told := map[string]bool{}
	last := 0
	for index, c := range h.calls {
		told[c.id] = true
		last = max(last, index)
	}
	for _, c := range calls {
		if !told[c.ID] {
			last++
			h.tell(llm.Delta{Kind: llm.DeltaCall, Index: last, CallID: c.ID, Name: c.Name})
			h.tell(llm.Delta{Kind: llm.DeltaArgs, Index: last, Text: string(c.Arguments)})
		}
	}
}

// sleep takes it that Pi will retry by itself.
func (h *messageStream) sleep(delay failure.Millis) {
	h.stopping = false
	if h.failed == nil {
		h.tell(llm.Delta{Kind: llm.DeltaPing})
		return
	}
	h.session.set(func() { h.session.sleeping = true })
	h.failed.RetryAfter, h.failed.Retryable = delay, true
	h.fail(h.failed)
}

// shorten takes it that Pi compacts the conversation. After a whole answer nobody needs to
// wait for that; after one that was too long for the model Pi asks again.
func (h *messageStream) shorten(reason string) {
	h.stopping = false
	if h.ended != nil && h.failed == nil && reason != "overflow" {
		h.settle()
		return
	}
	h.busy = true
	h.begin()
}

// settle ends the turn with what was heard last.
func (h *messageStream) settle() {
	switch {
	case h.failed != nil:
		h.session.rests()
		h.fail(h.failed)
	case h.ended != nil:
		h.session.rests()
		reason := llm.StopEnd
		if h.ended.StopReason == "length" {
			reason = llm.StopLength
		}
		h.stop(reason)
	case h.underway:
		h.session.rests()
		h.fail(h.classify(failure.Evidence{Kind: failure.KindEmptyResponse, Phase: failure.PhaseEndOfStream}))
	}
}

// repeat tells an answer that Pi gave when nobody heard it.
func (h *messageStream) repeat(m *message) {
	h.tell(llm.Delta{Kind: llm.DeltaText, Text: m.text()})
	h.tell(llm.Delta{Kind: llm.DeltaUsage, Usage: m.Usage.tokens()})
	h.ended = m
	h.settle()
}
