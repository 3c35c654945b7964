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
	// settleTime is how long a Pi that does not say when a run is over may take to go on; it does
	// so within about 10 ms.
	settleTime = 250 * time.Millisecond
	// pingTime is how often a ping is yielded while Pi is known to be busy with something of its
	// own.
	pingTime = 10 * time.Second

	maxAnswer = 64 << 20 // bytes of one message
)

// messageStream is one call of Stream, which turns Pi's events into deltas.
type messageStream struct {
	session  *session
	model    string // full name
	provider string // as Pi names it
	yield    func(llm.Delta, error) bool

	begun  bool // DeltaStart was yielded
	shown  bool // … and something after it
	worded bool // … text of the current message
	size   int  // bytes yielded
	calls  map[int]*streamedCall

	underway bool // Pi's agent has begun since the prompt, or before it
	ended    *message
	seen     observedRequests // the requests that led to the message that ends
	failed   *failure.Failure
	stopping bool // Pi's agent has ended, and no retry was announced
	busy     bool // Pi compacts, or sleeps
	over     bool // nothing more is yielded
}

// streamedCall is a tool call while its arguments come in.
type streamedCall struct {
	id   string // "" = not yielded yet
	args strings.Builder
}

// tell yields a delta. If the consumer stops, the turn is ended.
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

// accepted yields, once, that an answer begins. The first source to notice that may know the
// request's id.
func (h *messageStream) accepted(requestID string) {
	if !h.begun {
		h.begun = true
		h.tell(llm.Delta{Kind: llm.DeltaStart, RequestID: requestID})
	}
}

// stop ends what is yielded. The consumer may leave while Pi goes on.
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

// hear yields what Pi says until there is a message, or a failure. What it said before it ended
// counts, also if it has ended by now.
func (h *messageStream) hear(ctx context.Context) {
	s := h.session
	p := s.last()
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

// take handles an event.
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

// goOn records that Pi is at work. A failure that Pi recovered from by itself is yielded only if
// part of the failed message was: that part is then withdrawn, and the rest comes next.
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

// say yields a piece of the message. A call that has no name yet is yielded when it has one.
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

// end handles the end of a message. Only a message with calls is yielded immediately: what happens
// after any other is for Pi to say.
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

// cut reports whether the arguments of a call are incomplete.
func (h *messageStream) cut() bool {
	for _, c := range h.calls {
		if args := c.args.String(); args != "" && !json.Valid([]byte(args)) {
			return true
		}
	}
	return false
}

// finishCalls yields the calls that were not yielded as they came.
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

// sleep handles a retry that Pi makes by itself after a delay.
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

// shorten handles that Pi compacts the conversation. After a whole answer nobody needs to wait for
// that; after one that was too long for the model Pi asks again.
func (h *messageStream) shorten(reason string) {
	h.stopping = false
	if h.ended != nil && h.failed == nil && reason != "overflow" {
		h.settle()
		return
	}
	h.busy = true
	h.begin()
}

// settle ends the turn with the last message.
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

// repeat yields an answer that Pi gave when nobody was reading.
func (h *messageStream) repeat(m *message) {
	h.tell(llm.Delta{Kind: llm.DeltaText, Text: m.text()})
	h.tell(llm.Delta{Kind: llm.DeltaUsage, Usage: m.Usage.tokens()})
	h.ended = m
	h.settle()
}
