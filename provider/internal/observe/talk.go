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
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/sse"
	"github.com/mulligan-run/mulligan/wire"
)

const (
	errorBodyTime = 5 * time.Second        // for the body of an error answer
	afterFinish   = 300 * time.Millisecond // for what may follow the terminal event (OpenAI's usage)
	afterDoubtful = 2 * time.Second        // where the answer itself may follow, see wire.Doubtful
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

// Ask is one request.
type Ask struct {
	Model   string // full name
	Path    string // after the base URL
	Header  http.Header
	Body    []byte
	Secrets *Secrets
	Decoder wire.Decoder
	Repairs []llm.Repair  // what was changed in the transcript
	Connect time.Duration // how long to wait for a connection; 0 = the Client's, negative = without a limit
}

// Path is what stands after base for an endpoint of an API version, which base may
// name already.
func Path(base, version, endpoint string) string {
	if strings.HasSuffix(strings.TrimRight(base, "/ "), version) {
		return endpoint
	}
	return version + endpoint
}

// talk is one request under way.
type talk struct {
	observation
	client *Client
	ask    Ask
	yield  func(llm.Delta, error) bool
	outer  context.Context // the caller's
	ctx    context.Context // the request's: it outlives the caller's by the drain
	cancel context.CancelCauseFunc
	unlink func() bool // parts ctx from outer

	connected atomic.Bool
	response  *http.Response
	answer    *capped
	hidden    *hidden
	template  template
	told      []llm.Delta // kept so that a delta costs no allocation
	grace     *time.Timer // runs once the terminal event was seen
	retired   bool
}

// Stream is llm.Model.Stream for an adapter whose prepare says what to ask. What
// prepare refuses is never sent.
func (c *Client) Stream(ctx context.Context, prepare func() (Ask, error)) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if ctx.Err() != nil {
			yield(llm.Delta{}, context.Cause(ctx))
			return
		}
		ask, err := prepare()
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if len(ask.Repairs) > 0 && !yield(llm.Delta{Kind: llm.DeltaRepaired, Repairs: ask.Repairs}, nil) {
			return
		}
		c.converse(ctx, ask, yield)
	}
}

// converse sends ask and yields what comes back, as llm.Model.Stream does.
func (c *Client) converse(ctx context.Context, ask Ask, yield func(llm.Delta, error) bool) {
	t := &talk{client: c, ask: ask, yield: yield, outer: ctx, observation: observation{
		provider: c.provider, model: ask.Model, secrets: ask.Secrets, decoder: ask.Decoder, way: c.way, connect: c.connectTimeout(ask),
		phase: failure.PhaseBeforeConnect, local: c.Loopback(), classify: c.classify,
	}}
	ask.Secrets.known.Add(c.way.secrets()...)
	t.hidden = newHidden(ask.Secrets.known)
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.unlink = context.AfterFunc(ctx, func() { t.cancel(context.Cause(ctx)) })
	defer t.end()
	err := ctx.Err()
	if err == nil {
		err = t.send()
	}
	if err == nil {
		err = t.hear()
	}
	switch {
	case err == nil || !t.say(t.rest(false)):
	case ctx.Err() != nil:
		yield(llm.Delta{}, context.Cause(ctx))
	default:
		yield(llm.Delta{}, err)
	}
}

// end breaks the request off, unless it has retired.
func (t *talk) end() {
	if t.retired {
		return
	}
	t.unlink()
	t.cancel(errFinished)
	if t.response != nil {
		t.response.Body.Close()
	}
}

// retire lets the answer come to its end in peace, so that the connection can
// serve the next request, without anybody waiting for it.
func (t *talk) retire() {
	t.retired = true
	t.unlink()
	if t.grace != nil {
		t.grace.Stop()
	}
	go func() {
		timer := time.AfterFunc(drainTime, func() { t.cancel(errFinished) })
		defer timer.Stop()
		_, _ = io.CopyN(io.Discard, t.response.Body, maxErrorBody)
		t.response.Body.Close()
		t.cancel(errFinished)
	}()
}

// connectTimeout is how long ask waits for a connection; 0 is without a limit.
func (c *Client) connectTimeout(ask Ask) time.Duration {
	if ask.Connect == 0 || c.connect == 0 {
		return c.connect
	}
	return max(0, ask.Connect)
}

// send gets the answer's head.
func (t *talk) send() error {
	stop := t.awaitConnection()
	defer stop()
	var lookup atomic.Bool
	var steps steps
	trace := &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { lookup.Store(true) },
		DNSDone:  func(httptrace.DNSDoneInfo) { lookup.Store(false) },

		TLSHandshakeStart: func() { steps.handshakes.Add(1) },
		GotConn: func(httptrace.GotConnInfo) {
			stop()
			t.connected.Store(true)
		},
	}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.ctx, trace),
		http.MethodPost, t.client.base+t.ask.Path, bytes.NewReader(t.ask.Body))
	if err != nil {
		return PromptFailure(t.client.provider, t.ask.Model, t.ask.Secrets.Error(err))
	}
	request.Header = t.ask.Header
	request.GetBody = nil                      // see once
	response, err := t.client.http.Do(request) //nolint:bodyclose // end or retire closes it
	switch {
	case err != nil && errors.Is(context.Cause(t.ctx), errConnect):
		if lookup.Load() { // it is the name server that keeps silent, not the provider
			return t.unanswered(&net.DNSError{Err: "the name server did not answer", Name: t.client.host.Name, IsTimeout: true}, false, false)
		}
		return t.unanswered(errConnect, false, steps.beyond(t.way))
	case err != nil:
		return t.unanswered(err, t.connected.Load(), steps.beyond(t.way))
	}
	t.answered(response.StatusCode, response.Header)
	t.response = response
	t.answer = &capped{src: response.Body, left: maxAnswer}
	return nil
}

// awaitConnection breaks the request off where connecting takes too long, unless stop
// is called before.
func (t *talk) awaitConnection() (stop func()) {
	if t.connect <= 0 {
		return func() {}
	}
	timer := time.AfterFunc(t.connect, func() { t.cancel(errConnect) })
	return func() { timer.Stop() }
}

// hear reads the answer.
func (t *talk) hear() error {
	switch form := t.form(); form {
	case formStream:
	case formJSON:
		return t.document()
	default:
		return t.noStream(form, t.readBody(form))
	}
	answer := &trickle{src: t.answer, tell: func() bool { return t.tell(nil) }, told: time.Now()}
	events := sse.NewReader(answer)
	var deltas []llm.Delta
	for {
		event, err := events.Next()
		switch {
		case errors.Is(err, errUnheard):
			return nil
		case err != nil:
			return t.atEnd(err)
		}
		answer.heard()
		deltas, err = t.decode(event, deltas[:0])
		if (err == nil || len(deltas) > 0) && !t.tell(deltas) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t.decoder.State() {
		case wire.Done:
			return t.finish()
		case wire.Finished:
			t.arm(slices.ContainsFunc(deltas, llm.Delta.Progress))
		}
	}
}

// tell yields deltas, or a ping where there are none. It reports whether to go on.
func (t *talk) tell(deltas []llm.Delta) bool {
	t.told = t.template.told(t.hidden.pass(deltas), t.told[:0])
	if deltas = t.told; len(deltas) == 0 {
		return t.yield(llm.Delta{Kind: llm.DeltaPing}, nil)
	}
	return t.say(deltas)
}

// rest is what waits to be told; ended says that the answer has come to its own end.
func (t *talk) rest(ended bool) []llm.Delta {
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
func (t *talk) say(deltas []llm.Delta) bool {
	for i := range deltas {
		if deltas[i].Kind == llm.DeltaStart {
			deltas[i].RequestID = t.requestID
		}
		if !t.yield(deltas[i], nil) {
			return false
		}
	}
	return true
}

// arm bounds the wait for what may follow the terminal event; anew where the answer
// went on, since some servers put one on every event.
func (t *talk) arm(wentOn bool) {
	wait := afterFinish
	if d, ok := t.decoder.(wire.Doubtful); ok && d.Doubtful() {
		wait = afterDoubtful
	}
	switch {
	case t.grace == nil:
		t.grace = time.AfterFunc(wait, func() { t.cancel(errFinished) })
	case wentOn:
		t.grace.Reset(wait)
	}
}

func (t *talk) finish() error {
	t.retire()
	if !t.say(t.rest(t.decoder.Stop() == llm.StopEnd)) {
		return nil
	}
	t.yield(llm.Delta{Kind: llm.DeltaStop, Stop: t.decoder.Stop()}, nil)
	return nil
}

// atEnd is called when the answer has ended, in one way or another.
func (t *talk) atEnd(err error) error {
	if t.outer.Err() != nil && t.decoder.State() == wire.Open { // one that is whole is told, whatever ends the wait
		return t.outer.Err() // converse knows the cause
	}
	if err := t.ended(err); err != nil {
		return err
	}
	return t.finish()
}
