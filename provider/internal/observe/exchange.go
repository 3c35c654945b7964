package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/sse"
	"github.com/mulligan-run/mulligan/wire"
)

const (
	errorBodyTime = 5 * time.Second        // for the body of an error response
	afterFinish   = 300 * time.Millisecond // for what may follow the terminal event, such as OpenAI's usage
	afterDoubtful = 2 * time.Second        // likewise, if more of the answer may follow; see wire.Doubtful
	drainTime     = 250 * time.Millisecond // for the end of the body, so that the connection can be used again
)

var (
	errAnswerTooLarge = errors.New("answer larger than 64 MiB")
	errNothing        = errors.New("the answer is empty")
	errNoStream       = errors.New("the answer is not a stream of events")
	errRefused        = errors.New("the provider refused the request")
	errFinished       = errors.New("enough was read")
	errConnect        = fmt.Errorf("no connection was made in time: %w", context.DeadlineExceeded)
)

// exchange is a request in progress, and its answer.
type exchange struct {
	observation
	client *Client
	ask    Ask
	yield  func(llm.Delta, error) bool
	outer  context.Context // the caller's
	ctx    context.Context // the request's; it lasts longer, for draining
	cancel context.CancelCauseFunc
	unlink func() bool // detaches ctx from outer

	lookup    atomic.Bool // a name server is being asked
	steps     steps
	connected atomic.Bool
	limit     *time.Timer // breaks the request off if connecting takes too long; nil = there is no limit
	response  *http.Response
	answer    capped
	hidden    hidden
	template  template
	told      []llm.Delta // reused, so that a delta costs no allocation
	grace     *time.Timer // gives the rest of the answer up; runs once the terminal event has come
	retired   bool
	came      *llm.Frame // the event as it came, which goes out with the first of its deltas
	piece     llm.Frame  // reused
	batch     batch      // events before it that are not told yet
	more      bool       // another event has already been read and follows immediately
	unsent    bool       // the last delta had More set
}

// Stream implements llm.Model.Stream for an adapter; prepare makes the request. If prepare fails
// nothing is sent.
func (c *Client) Stream(ctx context.Context, prepare func() (Ask, error)) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if t := c.exchange(ctx, prepare, yield); t != nil {
			t.converse()
		}
	}
}

// exchange prepares an exchange; nil if there is nothing to send. What it needs of the stack is free
// again while the answer is read, which can take minutes.
func (c *Client) exchange(ctx context.Context, prepare func() (Ask, error), yield func(llm.Delta, error) bool) *exchange {
	if ctx.Err() != nil {
		yield(llm.Delta{}, context.Cause(ctx))
		return nil
	}
	ask, err := prepare()
	if err != nil {
		yield(llm.Delta{}, err)
		return nil
	}
	if len(ask.Repairs) > 0 && !yield(llm.Delta{Kind: llm.DeltaRepaired, Repairs: ask.Repairs}, nil) {
		return nil
	}
	t := &exchange{client: c, ask: ask, yield: yield, outer: ctx, observation: observation{
		provider: c.provider, model: ask.Model, secrets: ask.Secrets, decoder: ask.Decoder, way: c.way, connect: c.connectTimeout(ask),
		phase: failure.PhaseBeforeConnect, local: c.Loopback(), classify: c.classify,
	}}
	ask.Secrets.known.Add(c.way.secrets()...)
	t.hidden = newHidden(ask.Secrets.known)
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.unlink = context.AfterFunc(ctx, func() { t.cancel(context.Cause(ctx)) })
	return t
}

// converse sends the request and yields the answer, as llm.Model.Stream does.
func (t *exchange) converse() {
	defer t.end()
	err := t.outer.Err()
	if err == nil {
		err = t.send()
	}
	if err == nil {
		err = t.hear()
	}
	t.conclude(err)
}

// conclude yields what is left, and how the exchange ended.
func (t *exchange) conclude(err error) {
	if err != nil {
		t.tellHeaders()
	}
	if t.more = false; err != nil && t.unsent && !t.yieldOne(llm.Delta{Kind: llm.DeltaPing}) {
		return
	}
	switch {
	case err == nil || !t.say(t.rest(false)):
	case t.outer.Err() != nil:
		t.yield(llm.Delta{}, context.Cause(t.outer))
	default:
		t.yield(llm.Delta{}, err)
	}
}

// end breaks the request off, unless it has been left to retire.
func (t *exchange) end() {
	if t.retired {
		return
	}
	if t.grace != nil {
		t.grace.Stop()
	}
	t.unlink()
	t.cancel(errFinished)
	if t.response != nil {
		t.response.Body.Close()
	}
}

// retire lets the answer come to its end in the background, so that the connection can serve the
// next request. Where the end was read already there is nothing to wait for.
func (t *exchange) retire() {
	if t.answer.over {
		return
	}
	t.retired = true
	t.unlink()
	t.giveUpAfter(drainTime)
	go func() {
		defer t.grace.Stop()
		_, _ = io.CopyN(io.Discard, t.response.Body, maxErrorBody)
		t.response.Body.Close()
		t.cancel(errFinished)
	}()
}

// connectTimeout is how long ask waits for a connection; 0 = no limit.
func (c *Client) connectTimeout(ask Ask) time.Duration {
	if ask.Connect == 0 || c.connect == 0 {
		return c.connect
	}
	return max(0, ask.Connect)
}

// send sends the request and receives the head of the answer.
func (t *exchange) send() error {
	request, err := http.NewRequestWithContext(t.traced(), http.MethodPost, t.client.base+t.ask.Path, bytes.NewReader(t.ask.Body))
	if err != nil {
		return PromptFailure(t.client.provider, t.ask.Model, t.ask.Secrets.Error(err))
	}
	request.Header = t.ask.Header
	request.GetBody = nil // see once
	if err := t.do(request); err != nil {
		return err
	}
	t.answer = capped{src: t.response.Body, left: maxAnswer}
	return nil
}

// traced is the context of the request, which tells the exchange how its connection is made.
func (t *exchange) traced() context.Context {
	return httptrace.WithClientTrace(t.ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { t.lookup.Store(true) },
		DNSDone:  func(httptrace.DNSDoneInfo) { t.lookup.Store(false) },

		TLSHandshakeStart: func() { t.steps.handshakes.Add(1) },
		GotConn: func(httptrace.GotConnInfo) {
			if t.limit != nil {
				t.limit.Stop()
			}
			t.connected.Store(true)
		},
	})
}

// do receives the head of the answer to a request, whose context is traced.
func (t *exchange) do(request *http.Request) error {
	if t.connect > 0 {
		t.limit = time.AfterFunc(t.connect, func() { t.cancel(errConnect) })
		defer t.limit.Stop()
	}
	response, err := t.client.http.Do(request) //nolint:bodyclose // the exchange's owner closes it
	switch {
	case err != nil && errors.Is(context.Cause(t.ctx), errConnect):
		if t.lookup.Load() { // the name server is silent, not the provider
			return t.unanswered(&net.DNSError{Err: "the name server did not answer", Name: t.client.host.Name, IsTimeout: true}, false, false)
		}
		return t.unanswered(errConnect, false, t.steps.beyond(t.way))
	case err != nil:
		return t.unanswered(err, t.connected.Load(), t.steps.beyond(t.way))
	}
	t.answered(response.StatusCode, response.Header)
	t.response = response
	return nil
}

// hear reads the answer.
func (t *exchange) hear() error {
	switch form := t.form(); form {
	case formStream:
	case formJSON:
		return t.document()
	default:
		body := t.readBody(form)
		if form == formRefusal && !t.allOf(body) {
			return nil
		}
		return t.noStream(form, body)
	}
	return t.events()
}

// events reads an answer that is a stream.
func (t *exchange) events() error {
	if !t.head() {
		return nil
	}
	answer := &trickle{src: &t.answer, tell: func() bool { return t.tell(nil) }}
	events := sse.NewReader(answer, t.ask.Frames)
	var deltas []llm.Delta
	for {
		event, err := events.Next()
		switch {
		case errors.Is(err, errUnheard):
			return nil
		case err != nil && !t.tellBatch():
			return nil
		case err != nil:
			return t.atEnd(err, events)
		}
		answer.heard()
		deltas, err = t.decode(event, deltas[:0])
		t.more = t.ask.Frames && events.More()
		if err == nil && t.gather(event.Raw, deltas) {
			continue
		}
		if !t.tellEvent(event.Raw, deltas, err) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t.decoder.State() {
		case wire.Done:
			return t.finishStream(events)
		case wire.Finished:
			t.arm(progress(deltas))
		}
	}
}

// progress reports whether one of deltas moves the answer forward.
func progress(deltas []llm.Delta) bool {
	for i := range deltas {
		if deltas[i].Progress() {
			return true
		}
	}
	return false
}

// tell yields deltas, or a ping if there are none. It reports whether to go on.
func (t *exchange) tell(deltas []llm.Delta) bool {
	t.told = t.template.told(t.hidden.pass(deltas), t.told[:0])
	if deltas = t.told; len(deltas) == 0 {
		return t.yieldOne(llm.Delta{Kind: llm.DeltaPing, More: t.more})
	}
	return t.say(deltas)
}

// rest yields what was held back; ended says that the answer has come to its own end.
func (t *exchange) rest(ended bool) []llm.Delta {
	deltas := t.template.told(t.hidden.rest(), nil)
	text, cut := t.template.held, 0
	if ended {
		text, cut = t.template.end()
	}
	if text != "" {
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaText, Text: text})
	}
	if cut > 0 {
		deltas = append(deltas, llm.Delta{Kind: llm.DeltaRepaired, Repairs: []llm.Repair{{Kind: llm.RepairTemplate, Count: cut}}})
	}
	return deltas
}

// say yields deltas. It reports whether to go on.
func (t *exchange) say(deltas []llm.Delta) bool {
	for i := range deltas {
		if deltas[i].Kind == llm.DeltaStart {
			deltas[i].RequestID = t.requestID
		}
		deltas[i].More = t.more || t.ask.Frames && i < len(deltas)-1
		if !t.yieldOne(deltas[i]) {
			return false
		}
	}
	return true
}

// yieldOne yields one delta, with the event that it was made from.
func (t *exchange) yieldOne(d llm.Delta) bool {
	if t.came != nil {
		d.Frame, t.came = t.came, nil
		if d.Kind == llm.DeltaPing {
			d.Kind = llm.DeltaFrame
		}
	}
	t.unsent = d.More
	return t.yield(d, nil)
}

// arm starts the timer for what may follow the terminal event. It starts the timer again if the
// answer goes on, since some servers put a terminal event on every event.
func (t *exchange) arm(wentOn bool) {
	wait := afterFinish
	if d, ok := t.decoder.(wire.Doubtful); ok && d.Doubtful() {
		wait = afterDoubtful
	}
	if t.grace == nil || wentOn {
		t.giveUpAfter(wait)
	}
}

// giveUpAfter sets when the rest of the answer is given up.
func (t *exchange) giveUpAfter(wait time.Duration) {
	if t.grace == nil {
		t.grace = time.AfterFunc(wait, func() { t.cancel(errFinished) })
		return
	}
	t.grace.Reset(wait)
}

func (t *exchange) finish() error {
	t.more = false
	t.retire()
	if !t.say(t.rest(t.decoder.Stop() == llm.StopEnd)) {
		return nil
	}
	t.yield(llm.Delta{Kind: llm.DeltaStop, Stop: t.decoder.Stop()}, nil)
	return nil
}

// finishStream finishes an answer that is a stream. A caller that wants it as it came gets all its
// bytes; the last byte of a line end may still be missing, and is waited for briefly.
func (t *exchange) finishStream(events *sse.Reader) error {
	if t.ask.Frames {
		t.arm(false)
		if !t.frame(events.Rest()) {
			return nil
		}
	}
	return t.finish()
}

// atEnd is called when the answer has ended, in whatever way.
func (t *exchange) atEnd(err error, events *sse.Reader) error {
	if t.outer.Err() != nil && t.decoder.State() == wire.Open { // a whole answer is given even if the wait was cut short
		return t.outer.Err() // conclude knows the cause
	}
	if err := t.ended(err); err != nil {
		return err
	}
	return t.finishStream(events)
}
