package failure

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
)

// Classify makes any failed attempt a Failure: one kind for any evidence whatever. It
// asks, in this order: a Failure in Err's chain; what the adapter knows for sure; the
// provider's code in the body; what the provider says where its code is too general; the
// cause that its words come to, where the status says no more than that the request was
// refused; the HTTP status; the words of the transport; the cause that any words come to
// (causes.go). It never panics, and its time is linear in
// what it is given.
func Classify(e Evidence) *Failure { return Diagnose(e).Failure }

// Diagnose is Classify with the evidence that decided.
func Diagnose(e Evidence) Diagnosis {
	if f, ok := AsFailure(e.Err); ok && f != nil {
		f = adopt(f, &e)
		known := Clue{Source: ClueFailure, Value: oneLine(string(f.Kind), maxClueValue)}
		return Diagnosis{Failure: f, Evidence: []Clue{known.sure("")}}
	}
	c := gather(&e)
	v := c.verdict()
	f := NewFailure(v.kind, OriginModel, e.Phase, e.Err)
	f.Variant = v.variant
	f.Provider, f.Model, f.HTTPStatus = e.Provider, e.Model, e.Status
	f.ProviderCode = c.providerCode(v)
	f.RequestID = c.requestID()
	f.Detail = c.detail()
	var retry Clue
	f.Retryable, retry = c.retryable(v)
	f.place()
	h := c.comeBack(v, f)
	f.Describe(Words{})
	return Diagnosis{Failure: f, Evidence: c.evidence(v, retry, h, f)}
}

// adopt fills the gaps of a Failure that somebody who knew more has made.
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
	f.place()
	if f.Title == "" {
		f.Describe(Words{})
	}
	return &f
}

// place fills origin and phase where they follow from the rest.
func (f *Failure) place() {
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

// reading is the evidence, read once.
type reading struct {
	e      *Evidence
	now    time.Time // what dates are relative to
	body   signals
	codes  []providerCode
	said   string    // what the provider said, as it was written
	text   string    // in lower case: that, else what Err says
	grams  *trigrams // of text
	wire   string    // in lower case: what Err says
	status int       // of HTTP, or the one that the body names where HTTP says 200 or nothing
	spoken int       // the status that a bare message begins with or names
}

// providerCode is one code of a body, header or message.
type providerCode struct{ lower, flat, written, where string }

func newCode(written, where string) providerCode {
	return providerCode{strings.ToLower(written), flat(written), written, where}
}

func gather(e *Evidence) *reading {
	c := &reading{e: e, now: e.now(), status: e.Status}
	errText := ""
	if e.Err != nil {
		errText = words.WithoutStack(words.Clip(e.Err.Error(), maxTextScan))
	}
	where := clueBody
	if len(e.Body) > 0 {
		c.body = readBody(string(e.Body))
	} else if strings.ContainsAny(errText, "{[") {
		c.body, where = readBody(errText), clueError
	}
	c.wire = strings.ToLower(words.Clip(errText, maxWords))
	c.said = c.body.text()
	if c.text = strings.ToLower(c.said); c.text == "" {
		c.text = c.wire
	}
	c.codes = make([]providerCode, 0, len(c.body.codes)+1)
	for _, code := range c.body.codes {
		c.codes = append(c.codes, newCode(code, where))
	}
	if t := e.header("X-Amzn-Errortype"); t != "" {
		name, _, _ := strings.Cut(t, ":")
		c.codes = append(c.codes, newCode(words.Clip(name, 128), "x-amzn-errortype"))
	}
	if name := exceptionName(cmp.Or(c.said, errText)); name != "" {
		c.codes = append(c.codes, newCode(name, where))
	}
	if c.body.status != 0 && (c.status == 0 || c.status/100 == 2) {
		c.status = c.body.status
	}
	c.grams = trigramsOf(c.text)
	c.spoken = c.spokenStatus()
	return c
}

// verdict is a kind, and what the rule that gave it said about it.
type verdict struct {
	kind    Kind
	variant string
	once    retryability
	by      Clue   // what decided the kind
	finer   Clue   // what decided the variant, where that was something else
	code    string // the provider's code that decided, in lower case
	daily   bool   // a day's allowance is used up: a wait of seconds beside it is not meant
}

func (c *reading) verdict() verdict {
	if c.e.Kind != "" {
		return c.byAdapter()
	}
	for _, by := range []func() (verdict, bool){c.byPage, c.byQuota, c.byProvider, c.byAnswer, c.byRefusal, c.byStatus} {
		if v, ok := by(); ok {
			return v
		}
	}
	return c.byWords()
}

// byAdapter takes the kind that the adapter saw, and the variant from the transport's words.
func (c *reading) byAdapter() verdict {
	v := verdict{kind: c.e.Kind, by: Clue{Source: ClueAdapter, Value: string(c.e.Kind)}}
	if by, ok := c.byRules(looseRules); ok && by.kind == v.kind && by.variant != "" {
		v.variant, v.finer = by.variant, by.by
	}
	return v
}

func (c *reading) byProvider() (verdict, bool) { return c.byRules(rules) }

func (c *reading) byRules(table []rule) (verdict, bool) {
	for i := range table {
		r := &table[i]
		m, ok := r.matches(c)
		if !ok {
			continue
		}
		v := verdict{kind: r.kind, variant: r.variant, once: r.once, code: m.code.lower, by: c.clueOf(r, m)}
		if r.wire && c.streaming() && r.kind == KindUnreachable {
			v.kind = KindStreamInterrupted
		}
		return v, true
	}
	return verdict{}, false
}

// clueOf is what in the evidence matched r.
func (c *reading) clueOf(r *rule, m match) Clue {
	switch {
	case m.code.written != "":
		return Clue{Source: ClueCode, Where: m.code.where, Value: m.code.written}
	case r.wire && strings.Contains(c.wire, m.phrase):
		return Clue{Source: ClueTransport, Value: m.phrase}
	}
	return c.words(m.phrase)
}

// words is a clue of what was said.
func (c *reading) words(phrase string) Clue {
	where := clueError
	if len(c.e.Body) > 0 {
		where = clueBody
	}
	return Clue{Source: ClueWords, Where: where, Value: phrase}
}

// byPage knows answers that no API gave: a log-in page, a bot check, a web server that
// knows no such path.
func (c *reading) byPage() (verdict, bool) {
	e := c.e
	page := strings.Contains(strings.ToLower(e.header("Content-Type")), "text/html") && len(c.codes) == 0
	const noSuchPath, bodyless = "404 page not found", "404 status code (no body)"
	botCheck, _ := c.saysAny(botChecks)
	pageClue := Clue{Source: CluePage, Where: "content-type", Value: "text/html"}
	switch cf := e.header("Cf-Mitigated"); {
	case cf != "":
		return verdict{kind: KindUnreachable, once: never, variant: "bot_check", by: Clue{Source: ClueHeader, Where: "cf-mitigated", Value: cf}}, true
	case botCheck != "" && (page || strings.HasPrefix(string(e.Body), "<")) && (e.Status == 403 || e.Status == 503):
		return verdict{kind: KindUnreachable, once: never, variant: "bot_check", by: Clue{Source: CluePage, Where: "words", Value: botCheck}}, true
	case page && e.Status/100 == 2 && !c.streaming():
		return verdict{kind: KindUnreachable, variant: "page", by: pageClue}, true
	case page && e.Status == 404:
		return verdict{kind: KindMisconfigured, variant: "no_api", by: pageClue}, true
	case strings.HasPrefix(c.text, noSuchPath):
		return verdict{kind: KindMisconfigured, variant: "no_api", by: c.words(noSuchPath)}, true
	case c.says(bodyless):
		return verdict{kind: KindMisconfigured, variant: "no_api", by: c.words(bodyless)}, true
	}
	return c.byNameless()
}

// byNameless knows a 404 that names nothing that is missing, which is how a web server
// speaks of a path; who misses a model says which.
func (c *reading) byNameless() (verdict, bool) {
	if c.status != 404 && c.spoken != 404 {
		return verdict{}, false
	}
	said := strings.TrimRight(c.text[strings.LastIndexByte(c.text, '\n')+1:], ". ")
	if _, named := c.codeLike(modelCodes); named || !slices.Contains(namelessNotFound, said) {
		return verdict{}, false
	}
	return verdict{kind: KindMisconfigured, variant: "no_api", by: c.words(said)}, true
}

var (
	// botChecks are the words of pages that want to see a person.
	botChecks = []string{"just a moment", "attention required! | cloudflare", "enable javascript and cookies to continue", "checking your browser"}
	// namelessNotFound is all that a web server says of a path that it does not know.
	namelessNotFound = []string{"not found", "404 not found", "404: not found", "file not found", "resource not found", "url not found"}
	// modelCodes speak of a model.
	modelCodes = []string{"model", "deployment"}
)

// byQuota tells a used-up plan or day from a limit that passes within minutes, by the
// identifiers and figures beside the words (Google's QuotaFailure and RetryInfo;
// Anthropic's unified limits).
func (c *reading) byQuota() (verdict, bool) {
	exhausted, _ := c.codeOf(exhaustedCodes)
	if c.status != 429 && c.spoken != 429 && exhausted.lower == "" {
		return verdict{}, false
	}
	v := verdict{kind: KindQuota, code: exhausted.lower}
	for _, id := range c.body.quotas {
		if lower := strings.ToLower(id); strings.Contains(lower, "perday") || strings.Contains(lower, "per_day") || strings.Contains(lower, "daily") {
			v.by, v.daily = Clue{Source: ClueQuotaID, Where: clueBody, Value: id}, true
			return v, true
		}
	}
	const quotaResets = "quota will reset"
	const unified = "Anthropic-Ratelimit-Unified-Status"
	switch status := c.e.header(unified); {
	case bounded(parseDelay(c.body.delay.value)) > longDelay:
		v.by = Clue{Source: ClueHint, Where: c.body.delay.name, Value: c.body.delay.value}
	case c.says(quotaResets) && c.spokenHint(KindQuota).after > longDelay:
		v.by = c.words(quotaResets)
	case strings.EqualFold(status, "rejected"):
		v.by = Clue{Source: ClueHeader, Where: strings.ToLower(unified), Value: status}
	default:
		return c.byMinute(exhausted.lower)
	}
	return v, true
}

// byMinute knows Google's limits per minute, beside which it speaks of a plan and of
// billing all the same.
func (c *reading) byMinute(code string) (verdict, bool) {
	for _, id := range c.body.quotas {
		if lower := flat(id); strings.Contains(lower, "perminute") {
			return verdict{kind: KindRateLimit, code: code, by: Clue{Source: ClueQuotaID, Where: clueBody, Value: id}}, true
		}
	}
	return verdict{}, false
}

var exhaustedCodes = codes("resource_exhausted")

// longDelay is the longest delay that is still a rate limit's: Google's own client
// takes a longer RetryInfo as final.
const longDelay = Millis(300_000)

// byAnswer knows a whole answer that ended as it should and has nothing in it.
func (c *reading) byAnswer() (verdict, bool) {
	if !c.body.isBlankAnswer() || c.status != 0 && c.status/100 != 2 {
		return verdict{}, false
	}
	end, ok := c.codeOf(properEnds)
	return verdict{kind: KindEmptyResponse, by: Clue{Source: ClueCode, Where: end.where, Value: end.written}}, ok
}

// properEnds are the codes of an answer that was not cut.
var properEnds = codes("stop", "end_turn", "eos", "eos_token", "stop_sequence", "completed", "complete")

// byStatus decides by the HTTP status alone.
func (c *reading) byStatus() (verdict, bool) {
	kind, variant := kindOfStatus(c.status)
	if kind == "" {
		return verdict{}, false
	}
	where := ""
	if c.status != c.e.Status {
		where = clueBody
	}
	v := verdict{kind: kind, variant: variant, by: statusClue(c.status, where)}
	if _, general := c.codeOf(requestCodes); general && c.status == 404 && !strings.Contains(c.text, "model") {
		v.kind, v.variant = KindMisconfigured, "no_api"
	}
	return v, true
}

var requestCodes = codes("invalid_request_error")

// byWords decides where there is nothing but a message, or an answer without one.
func (c *reading) byWords() verdict {
	if code, ok := c.codeOf(invalidCodes); ok {
		return verdict{kind: KindInvalidRequest, code: code.lower, by: Clue{Source: ClueCode, Where: code.where, Value: code.written}}
	}
	if v, ok := c.bySpokenStatus(); ok {
		return v
	}
	if v, ok := c.transport().byRules(looseRules); ok {
		if v.kind == KindTimeout && strings.Contains(c.wire, "lookup ") {
			v.kind, v.by.Value = KindUnreachable, "lookup"
		}
		return v
	}
	if v, ok := c.byCause(); ok {
		return v
	}
	var timer interface{ Timeout() bool }
	switch {
	case c.wire == "eof":
		return c.cut()
	case errors.As(c.e.Err, &timer) && timer.Timeout():
		return verdict{kind: KindTimeout, by: Clue{Source: ClueTransport, Value: "timeout"}}
	case c.body.isError: // an error that an answer of status 200 carries
		return verdict{kind: KindUnavailable, by: Clue{Source: ClueCode, Where: clueBody, Value: "error"}}
	case c.e.Status/100 == 2:
		return c.unfinished()
	}
	return verdict{kind: KindUnknown, by: Clue{Source: ClueNothing, Value: "no rule knows it"}}
}

// transport gives the reading with Err's words before the body's.
func (c *reading) transport() *reading {
	t := *c
	if t.wire != "" && t.wire != t.text {
		t.text = t.wire + "\n" + t.text
		t.grams = trigramsOf(t.text)
	}
	return &t
}

// bySpokenStatus reads a status out of a message. Passed on by somebody, a 503 or 504
// says no more than that the provider has problems.
func (c *reading) bySpokenStatus() (verdict, bool) {
	kind, variant := kindOfStatus(c.spoken)
	switch c.spoken {
	case 502, 503, 504:
		kind = KindUnavailable
	}
	return verdict{kind: kind, variant: variant, by: statusClue(c.spoken, clueMessage)}, kind != ""
}

// cut is a connection that ended before it should.
func (c *reading) cut() verdict {
	v := verdict{kind: KindUnreachable, by: Clue{Source: ClueTransport, Value: "EOF"}}
	if c.streaming() {
		v.kind = KindStreamInterrupted
	}
	return v
}

// unfinished is an answer that came, and is none.
func (c *reading) unfinished() verdict {
	switch {
	case c.streaming():
		return verdict{kind: KindStreamInterrupted, by: Clue{Source: ClueTransport, Value: "no end of the stream"}}
	case len(c.e.Body) == 0 && c.e.Err == nil:
		return verdict{kind: KindEmptyResponse, by: statusClue(c.e.Status, "")}
	}
	return verdict{kind: KindMalformedResponse, once: never, by: statusClue(c.e.Status, "")}
}

func (c *reading) streaming() bool {
	return c.e.Phase == PhaseMidStream || c.e.Phase == PhaseEndOfStream
}

// codeOf gives the first code that is one of these.
func (c *reading) codeOf(codes []string) (providerCode, bool) {
	if len(codes) > 0 {
		for _, have := range c.codes {
			if slices.Contains(codes, have.flat) || slices.Contains(codes, have.lower) {
				return have, true
			}
		}
	}
	return providerCode{}, false
}

// codeLike gives the first code that is like one of these patterns.
func (c *reading) codeLike(patterns []string) (providerCode, bool) {
	for _, have := range c.codes {
		if len(have.written) > maxLikeCode {
			continue
		}
		for _, pattern := range patterns {
			if isLike(have.flat, pattern) {
				return have, true
			}
		}
	}
	return providerCode{}, false
}

// providerCode is the code that decided, as the provider wrote it, else its first one
// that is not an envelope's.
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

// requestIDHeaders are where providers, clouds and gateways name a request.
var requestIDHeaders = []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "X-Litellm-Call-Id"}

// MaxRequestID is the most that is kept of a request's id, in bytes.
const MaxRequestID = 128

// RequestID is the provider's name for a request, by the headers of its answer and in
// full; "" if they do not say.
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

// detail is what the provider said in its own words, else what the transport did.
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

// retryable says whether the same input may succeed, and by what header where one
// says so.
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
