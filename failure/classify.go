package failure

import (
	"cmp"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
)

// Classify makes a Failure of any failed attempt: exactly one kind for any evidence, in the order
// that the package's doc gives. It never panics, and takes time linear in the size of the
// evidence.
func Classify(e Evidence) *Failure {
	if f, ok := AsFailure(e.Err); ok && f != nil {
		return adopt(f, &e)
	}
	c := gather(&e)
	v, _ := c.verdict(0)
	f, _, _ := c.failure(v)
	return f
}

// Diagnose is Classify with the evidence that decided, how sure that is, and the kind that would
// have come next.
func Diagnose(e Evidence) Diagnosis {
	if f, ok := AsFailure(e.Err); ok && f != nil {
		f = adopt(f, &e)
		known := Clue{Source: ClueFailure, Value: oneLine(string(f.Kind), maxClueValue)}
		return Diagnosis{Failure: f, Confidence: certain, Evidence: []Clue{known.sure("")}}
	}
	c := gather(&e)
	v, step := c.verdict(0)
	f, retry, h := c.failure(v)
	return Diagnosis{Failure: f, Confidence: confidence(step), RunnerUp: c.runnerUp(v, step), Evidence: c.evidence(v, retry, h, f)}
}

// failure makes the Failure of a verdict. It also gives the clue that decided whether the request
// may be tried again, and the hint that says when.
func (c *reading) failure(v verdict) (f *Failure, retry Clue, h hint) {
	e := c.e
	f = NewFailure(v.kind, OriginModel, e.Phase, e.Err)
	f.Variant = v.variant
	f.Provider, f.Model, f.HTTPStatus = e.Provider, e.Model, e.Status
	f.ProviderCode = c.providerCode(v)
	f.RequestID = c.requestID()
	f.Detail = c.detail()
	f.Retryable, retry = c.retryable(v)
	f.completeOrigin()
	h = c.comeBack(v, f)
	f.Describe(Words{})
	return f, retry, h
}

// adopt fills the gaps of a Failure that an adapter or an embedder has made.
func adopt(made *Failure, e *Evidence) *Failure {
	f := *made
	if f.Kind == "" {
		f.Kind = KindUnknown
	}
	if f.Code == "" {
		f.Code = f.Kind.Code()
	}
	f.Phase = cmp.Or(f.Phase, e.Phase)
	f.Provider = cmp.Or(f.Provider, e.Provider)
	f.Model = cmp.Or(f.Model, e.Model)
	f.HTTPStatus = cmp.Or(f.HTTPStatus, e.Status)
	f.completeOrigin()
	if f.Title == "" {
		f.Describe(Words{})
	}
	return &f
}

// completeOrigin fills in origin and phase where they follow from the other fields.
func (f *Failure) completeOrigin() {
	switch {
	case f.Phase != "":
	case f.HTTPStatus != 0:
		f.Phase = PhaseBeforeFirstEvent
	case f.Kind == KindUnreachable, f.Kind == KindTLS:
		f.Phase = PhaseBeforeConnect
	default:
		f.Phase = PhaseBeforeFirstEvent
	}
	switch {
	case f.Phase == PhasePrompt && f.Origin != OriginRunner:
		f.Origin = OriginPrompt
	case f.Phase == PhaseTool, f.Kind == KindToolFailure:
		f.Origin = OriginTool
	case f.Origin == "":
		f.Origin = OriginModel
	}
	if f.Kind == KindInternal {
		f.Origin = OriginRunner
	}
}

// providerCode is the code that decided, as the provider wrote it; otherwise the first code that is
// not just the name of an envelope ("error").
func (c *reading) providerCode(v verdict) string {
	first := ""
	for _, code := range c.codes {
		switch {
		case v.code != "" && code.lower == v.code:
			return code.written
		case first == "" && code.lower != "error" && code.where != "x-amzn-errortype":
			first = code.written
		}
	}
	return first
}

// requestIDHeaders are the headers in which providers, clouds and gateways name a request.
var requestIDHeaders = []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "X-Litellm-Call-Id"}

// MaxRequestID is how much of a request's id is kept, in bytes.
const MaxRequestID = 128

// RequestID is the id that the provider gave a request, from the headers of its answer, not
// shortened; "" if they hold none.
func RequestID(header map[string][]string) string {
	e := Evidence{Header: header}
	for _, name := range requestIDHeaders {
		if id := e.header(name); id != "" {
			return id
		}
	}
	return ""
}

func (c *reading) requestID() string {
	return cmp.Or(words.Clip(RequestID(c.e.Header), MaxRequestID), c.body.requestID)
}

// detail is the provider's own words, otherwise the transport's.
func (c *reading) detail() string {
	if len(c.e.Body) > 0 {
		if c.said != "" {
			return words.Clip(c.said, MaxDetail)
		}
		return words.Clip(words.Plain(string(c.e.Body)), MaxDetail)
	}
	if c.e.Err != nil {
		return words.Clip(words.Plain(c.e.Err.Error()), MaxDetail)
	}
	return ""
}

// retryable reports whether the same request may succeed, and gives the header that says so, if
// there is one.
func (c *reading) retryable(v verdict) (bool, Clue) {
	says := c.e.header("X-Should-Retry")
	clue := Clue{Source: ClueHeader, Where: "x-should-retry", Value: says}
	switch strings.ToLower(says) {
	case "true":
		return true, clue
	case "false":
		return false, clue
	}
	switch v.once {
	case never:
		return false, Clue{}
	case always:
		return true, Clue{}
	}
	return v.kind.Retryable(), Clue{}
}
