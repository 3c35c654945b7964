package observe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/sse"
	"github.com/mulligan-run/mulligan/wire"
)

var (
	errUnderWay = errors.New("the request is still under way")
	errUnread   = errors.New("the answer was not read to its end")
)

// Watched watches a request that another client library makes, and its answer; the bytes are
// passed on unchanged, as they come. It is safe for concurrent use.
type Watched struct {
	mu sync.Mutex
	observation
	asked  asked
	ctx    context.Context // the request's
	form   form
	looked bool // the first byte has been checked
	parser sse.Parser
	deltas []llm.Delta
	raw    []byte // the beginning of an answer that is not a stream
	cut    bool   // there is more of it

	head     time.Time // when the answer began
	first    time.Time // when its first event came
	progress time.Time // when progress was last made

	settled bool
	verdict error // once settled; nil = the answer is whole
}

// Watch makes a Watched for a request; decoder reads its answer, and secrets are hidden in addition
// to those in the request.
func Watch(r *http.Request, provider string, decoder wire.Decoder, secrets []string) *Watched {
	a := askedFor(r)
	w := &Watched{asked: a, ctx: r.Context(), observation: observation{
		provider: provider, decoder: decoder, secrets: NewSecrets(append(secretsOf(r), secrets...)...),
		phase: failure.PhaseBeforeConnect,
	}}
	if a.model != "" {
		w.model = provider + "/" + a.model
	}
	return w
}

// DefaultBase sends requests if no other transport was given.
func DefaultBase() http.RoundTripper {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // a program has replaced it
	}
	base := usual.Clone()
	base.MaxResponseHeaderBytes = maxHeader
	return base
}

// RoundTrip sends the request through base.
func (w *Watched) RoundTrip(base http.RoundTripper, r *http.Request) (*http.Response, error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	r = r.Clone(httptrace.WithClientTrace(r.Context(), trace))
	r.GetBody = nil                 // see once
	r.Header.Del("Accept-Encoding") // net/http then asks for gzip itself, and decompresses
	response, err := base.RoundTrip(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if !w.cancelled() {
			w.settle(w.unanswered(err, connected.Load(), false))
		}
		return nil, err
	}
	w.begin(response)
	return response, nil
}

// begin handles the head of an answer and wraps its body.
func (w *Watched) begin(response *http.Response) {
	w.head = time.Now()
	w.progress = w.head
	w.answered(response.StatusCode, response.Header)
	w.form = w.observation.form()
	switch {
	case response.StatusCode == http.StatusSwitchingProtocols:
		w.settle(nil) // what follows is not HTTP
		return
	case w.form == formRedirect:
		w.settle(w.noStream(formRedirect, nil))
	case w.form == formStream && w.asked.form == askedDocument && w.contentType() != eventStream:
		w.form = formOther
	}
	response.Body = &watchedBody{ReadCloser: response.Body, w: w, left: maxAnswer}
}

// cancelled settles a request that its own context ended. That is not a failure, unless one of the
// client's deadlines was reached.
func (w *Watched) cancelled() bool {
	if !errors.Is(w.ctx.Err(), context.Canceled) {
		return false
	}
	w.settle(context.Cause(w.ctx))
	return true
}

func (w *Watched) settle(verdict error) {
	if !w.settled {
		w.settled, w.verdict = true, verdict
	}
}

// see handles a piece of the body. The reader must get an error, too.
func (w *Watched) see(piece []byte) error {
	if w.settled || len(piece) == 0 {
		return nil
	}
	if !w.looked && w.form == formStream {
		w.form = formOf(piece[0])
	}
	w.looked = true
	if w.form != formStream {
		w.keep(piece)
		return nil
	}
	err := w.parser.Push(piece, w.event)
	if errors.Is(err, sse.ErrTooLarge) {
		w.settle(w.fail(broken(err), err, nil))
		return err
	}
	return nil
}

// event handles one event. Its error only ends the parsing.
func (w *Watched) event(event sse.Event) error {
	deltas, err := w.decode(event, w.deltas[:0])
	if err != nil {
		w.settle(err)
		return err
	}
	w.deltas = deltas
	if len(deltas) > 0 && w.first.IsZero() {
		w.first = time.Now()
	}
	if progress(deltas) {
		w.progress = time.Now()
	}
	if w.decoder.State() == wire.Done {
		w.settle(nil)
		return errFinished
	}
	return nil
}

// keep keeps the beginning of an answer that is not a stream, as much as classification needs.
func (w *Watched) keep(piece []byte) {
	w.progress = time.Now()
	most := maxErrorBody
	if w.form == formJSON {
		most = maxAnswer
	}
	room := most - len(w.raw)
	w.cut = w.cut || room < len(piece)
	w.raw = append(w.raw, piece[:min(room, len(piece))]...)
}

// end handles the end of the body: io.EOF, or what broke it.
func (w *Watched) end(err error) {
	switch {
	case w.settled:
	case w.form == formStream && w.decoder.State() != wire.Open:
		w.settle(nil)
	case w.cancelled():
	case w.form == formStream:
		w.settle(w.ended(err))
	case !errors.Is(err, io.EOF) && (w.form == formJSON || w.form == formOther):
		w.settle(w.fail(broken(err), err, nil))
	default:
		w.cut = w.cut || !errors.Is(err, io.EOF)
		w.settle(w.document())
	}
}

// document settles an answer that is not a stream, by the part of it that was kept.
func (w *Watched) document() error {
	switch {
	case w.form == formOther && len(w.raw) > 0:
		return nil
	case w.form == formJSON && w.asked.form != askedStream && json.Valid(w.raw) && !reportsError(w.raw):
		return nil
	case w.form == formJSON && w.asked.form == askedStream && !w.cut:
		if _, whole, err := w.unstream(w.raw); whole {
			return err
		}
	}
	return w.noStream(w.form, w.secrets.body(w.raw[:min(len(w.raw), maxErrorBody)], w.cut || len(w.raw) > maxErrorBody))
}

// Err is nil if the answer was whole and the client library has no error. Otherwise it is a
// failure, or the cause of the request's cancellation. client is the client library's error, or
// nil.
func (w *Watched) Err(client error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.settled {
		w.settle(w.abandoned(client))
	}
	if w.verdict == nil && client != nil {
		return w.fail(failure.KindMalformedResponse, client, nil)
	}
	return w.verdict
}

// abandoned settles an answer that was not read to its end.
func (w *Watched) abandoned(client error) error {
	switch {
	case w.status == 0:
		return w.fail(failure.KindUnreachable, errUnderWay, nil)
	case w.form != formStream:
		return w.document()
	case w.decoder.State() != wire.Open:
		return nil
	case client != nil:
		return w.fail(failure.KindMalformedResponse, client, nil) // the client could not go on
	}
	return w.fail(failure.KindStreamInterrupted, errUnread, nil)
}

// Named sets the model's full name, for requests that do not contain it.
func (w *Watched) Named(model string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.model = model
}

// Classified sets the classifier; nil = failure.Classify.
func (w *Watched) Classified(by failure.Classifier) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.classify = by
}

// Settled reports whether the outcome is known, whatever the reader does next.
func (w *Watched) Settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settled
}

// Status is the status of the answer; 0 = there is none yet.
func (w *Watched) Status() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// RequestID is the provider's name for the request, without secrets; "" = none.
func (w *Watched) RequestID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requestID
}

// FirstEvent is when the first event came that was more than a ping; zero = none has.
func (w *Watched) FirstEvent() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// FirstByte is when the answer began; zero = it has not.
func (w *Watched) FirstByte() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head
}

// LastProgress is when progress was last made; zero = the answer has not begun.
func (w *Watched) LastProgress() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.progress
}

// watchedBody shows a body to a Watched while it is read.
type watchedBody struct {
	io.ReadCloser
	w    *Watched
	left int64
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.refuse(errAnswerTooLarge)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	if tooLarge := b.w.see(p[:n]); tooLarge != nil {
		return n, tooLarge
	}
	if err != nil {
		b.w.end(err)
	}
	return n, err
}

func (b *watchedBody) refuse(err error) error {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	b.w.end(err)
	return err
}
