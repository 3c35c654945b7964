package observe

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/sse"
	"github.com/mulligan-run/mulligan/wire"
)

// observation finds out how one request goes from what it is shown. It reads nothing itself: an
// exchange, or another client library, shows it what comes.
type observation struct {
	provider string
	model    string // full name
	secrets  *Secrets
	decoder  wire.Decoder
	way      *way               // of a proxy
	connect  time.Duration      // the limit on connecting; 0 = unknown
	local    bool               // it is on this computer
	classify failure.Classifier // nil = failure.Classify

	phase  failure.Phase
	status int         // 0 = no answer yet
	header http.Header // of the answer

	requestID string // the provider's name for the request, without secrets
}

// answered records the head of an answer.
func (j *observation) answered(status int, header http.Header) {
	j.phase, j.status, j.header = failure.PhaseBeforeFirstEvent, status, header
	j.requestID = words.Clip(j.secrets.Text(failure.RequestID(header)), failure.MaxRequestID)
}

// unanswered is the failure of a request that err ended before any answer. beyond says that the
// connection reached beyond the proxy, if there is one.
func (j *observation) unanswered(err error, connected, beyond bool) error {
	if connected {
		j.phase = failure.PhaseBeforeFirstEvent
	}
	kind, variant, said := j.way.trouble(err, connected || beyond)
	if kind == "" {
		return j.fail(unanswered(err, connected), once(err), nil)
	}
	f := j.fail(kind, once(err), nil)
	words := j.way.words()
	f.Variant, words.Reason = variant, said
	f.Describe(words)
	return f
}

// form is the form of an answer.
type form uint8

const (
	formStream   form = iota // events
	formRefusal              // an error, described by its body
	formRedirect             // its body does not matter
	formPage                 // a web page
	formHTML                 // a web page under another content type
	formJSON                 // one document
	formOther                // another form that a client asked for
)

// form is decided by the status and the content type.
func (j *observation) form() form {
	switch {
	case j.status >= 300 && j.status < 400:
		return formRedirect
	case j.status < 200 || j.status >= 400:
		return formRefusal
	}
	switch kind := j.contentType(); {
	case kind == "text/html", kind == "application/xhtml+xml":
		return formPage
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return formJSON
	}
	return formStream
}

const eventStream = "text/event-stream"

// contentType is that of the answer, without parameters, in lower case.
func (j *observation) contentType() string {
	kind, _, err := mime.ParseMediaType(j.header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// formOf is decided by the first byte of an answer that claims to be a stream, or has no content
// type. No event begins with these bytes.
func formOf(first byte) form {
	switch first {
	case '{', '[':
		return formJSON
	case '<':
		return formHTML
	}
	return formStream
}

// noStream is the failure for an answer that is not a stream; body is its beginning, without
// secrets.
func (j *observation) noStream(form form, body []byte) error {
	switch form {
	case formRedirect:
		return j.fail(failure.KindMisconfigured, ErrRedirect, nil)
	case formRefusal:
		return j.fail("", errRefused, body)
	case formPage:
		return j.fail("", errNoStream, body)
	case formHTML:
		return j.fail(failure.KindUnreachable, errNoStream, body)
	}
	switch {
	case reportsError(body):
		return j.fail("", errRefused, body)
	case len(body) == 0:
		return j.fail(failure.KindEmptyResponse, errNothing, nil)
	}
	f := j.fail(failure.KindMalformedResponse, errNoStream, nil)
	f.Retryable = false // a server that does not stream now will not next time
	return f
}

// reportsError reports whether body is a JSON object that is an error, or a list with one.
func reportsError(body []byte) bool {
	type document struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	var list []document
	if json.Unmarshal(body, &list) != nil {
		list = make([]document, 1)
		_ = json.Unmarshal(body, &list[0])
	}
	return slices.ContainsFunc(list, func(d document) bool { return d.Type == "error" || wire.IsError(d.Error) })
}

// decode appends the deltas of an event to deltas, which may include usage even with an error.
// The error is a failure.
func (j *observation) decode(event sse.Event, deltas []llm.Delta) ([]llm.Delta, error) {
	if event.Idle {
		return deltas, nil
	}
	deltas, err := j.decoder.Decode(event.Data, deltas)
	if err != nil {
		return deltas, j.misheard(err)
	}
	for i := range deltas {
		j.phase = failure.PhaseMidStream
		if deltas[i].Kind == llm.DeltaStart && j.requestID == "" {
			j.requestID = words.Clip(j.secrets.Text(deltas[i].RequestID), failure.MaxRequestID)
		}
	}
	return deltas, nil
}

// misheard is the failure for a Decoder's error.
func (j *observation) misheard(err error) error {
	if reported := (*wire.ReportedError)(nil); errors.As(err, &reported) {
		return j.fail(reported.Kind, err, j.secrets.body(reported.Body, false))
	}
	if errors.Is(err, wire.ErrCut) {
		return j.ended(io.EOF)
	}
	return j.fail(broken(err), err, nil)
}

// ended gives the failure of a stream that ended with err (io.EOF or another); nil if it is whole.
func (j *observation) ended(err error) error {
	switch {
	case j.decoder.State() != wire.Open:
		return nil
	case !errors.Is(err, io.EOF):
		return j.fail(broken(err), err, nil)
	case j.phase == failure.PhaseBeforeFirstEvent:
		j.phase = failure.PhaseEndOfStream
		return j.fail(failure.KindEmptyResponse, errNothing, nil)
	}
	j.phase = failure.PhaseEndOfStream
	return j.fail(failure.KindStreamInterrupted, wire.ErrCut, nil)
}

// fail collects the evidence and classifies it. An empty kind leaves the kind to Classify.
func (j *observation) fail(kind failure.Kind, err error, body []byte) *failure.Failure {
	e := failure.Evidence{
		Err: j.secrets.Error(err), Kind: kind, Phase: j.phase, Provider: j.provider, Model: j.model,
		Status: j.status, Header: j.secrets.Header(j.header), Body: body, At: time.Now(),
	}
	f := j.named(e)
	f.RequestID = cmp.Or(f.RequestID, j.requestID)
	if f.Kind == failure.KindTimeout && j.phase == failure.PhaseBeforeConnect && j.connect > 0 {
		f.Timer, f.Limit = failure.TimerConnect, failure.Millis(j.connect.Milliseconds())
		f.Describe(failure.Words{})
	}
	if f.Kind == failure.KindUnreachable && f.Variant == "" && j.local && words.StatusURL(j.provider) == "" {
		f.Variant = failure.VariantLocal
		f.Describe(failure.Words{})
	}
	if f.Kind == failure.KindMisconfigured && f.Variant == failure.VariantProxy {
		f.Describe(j.way.words())
	}
	return f
}

// named calls the classifier.
func (j *observation) named(e failure.Evidence) *failure.Failure {
	if j.classify != nil {
		return j.classify(e)
	}
	return failure.Classify(e)
}
