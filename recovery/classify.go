package recovery

import (
	"strconv"
	"strings"
)

// Classify makes any failed attempt a Failure: one kind for any evidence whatever. It
// asks, in this order: a Failure in Err's chain; what the adapter knows for sure; the
// provider's code in the body; what the provider says where its code is too general; the
// HTTP status; the words of the transport. It never panics, and its time is linear in
// what it is given.
func Classify(e Evidence) *Failure {
	if f, ok := AsFailure(e.Err); ok && f != nil {
		return adopt(f, &e)
	}
	c := gather(&e)
	v := c.verdict()
	f := NewFailure(v.kind, OriginModel, e.Phase, e.Err)
	f.Variant = v.variant
	f.Provider, f.Model, f.HTTPStatus = e.Provider, e.Model, e.Status
	f.ProviderCode = c.providerCode(v)
	f.RequestID = c.requestID()
	f.Detail = c.detail()
	f.Retryable = c.retryable(v)
	f.place()
	c.hints(f)
	f.Describe(Words{})
	return f
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
	f.Phase = orElse(f.Phase, e.Phase)
	f.Provider = orElse(f.Provider, e.Provider)
	f.Model = orElse(f.Model, e.Model)
	f.HTTPStatus = orElse(f.HTTPStatus, e.Status)
	f.place()
	if f.Title == "" {
		f.Describe(Words{})
	}
	return &f
}

func orElse[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
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

// clues is the evidence, read once.
type clues struct {
	e      *Evidence
	body   signals
	codes  []string  // in lower case
	text   string    // in lower case: what the provider said, else what Err says
	grams  *trigrams // of text
	wire   string    // in lower case: what Err says
	status int       // of HTTP, or the one that the body names where HTTP says 200 or nothing
	spoken int       // the status that a bare message begins with or names
}

func gather(e *Evidence) *clues {
	c := &clues{e: e, status: e.Status}
	errText := ""
	if e.Err != nil {
		errText = Clip(e.Err.Error(), maxTextScan)
	}
	if len(e.Body) > 0 {
		c.body = readBody(string(e.Body))
	} else if strings.ContainsAny(errText, "{[") {
		c.body = readBody(errText)
	}
	c.wire = strings.ToLower(Clip(errText, maxWords))
	c.text = strings.ToLower(c.body.text())
	if c.text == "" {
		c.text = c.wire
	}
	for _, code := range c.body.codes {
		c.codes = append(c.codes, strings.ToLower(code))
	}
	if t := e.header("X-Amzn-Errortype"); t != "" {
		name, _, _ := strings.Cut(t, ":")
		c.codes = append(c.codes, strings.ToLower(Clip(name, 128)))
	}
	if c.body.status != 0 && (c.status == 0 || c.status/100 == 2) {
		c.status = c.body.status
	}
	c.grams = trigramsOf(c.text)
	c.spoken = spokenStatus(c.text)
	return c
}

// verdict is a kind and what the rule that gave it said about it.
type verdict struct {
	kind    Kind
	variant string
	once    retryability
	code    string // the provider's code that decided, in lower case
}

func (c *clues) verdict() verdict {
	if c.e.Kind != "" {
		v := verdict{kind: c.e.Kind}
		if by, ok := c.byRules(looseRules); ok && by.kind == v.kind {
			v.variant = by.variant
		}
		return v
	}
	if v, ok := c.byPage(); ok {
		return v
	}
	if v, ok := c.byQuota(); ok {
		return v
	}
	if v, ok := c.byRules(rules); ok {
		return v
	}
	if v, ok := c.byStatus(); ok {
		return v
	}
	return c.byWords()
}

func (c *clues) byRules(table []rule) (verdict, bool) {
	for i := range table {
		if r := &table[i]; r.matches(c) {
			v := verdict{kind: r.kind, variant: r.variant, once: r.once}
			if len(r.codes) > 0 {
				v.code = c.codeOf(r.codes)
			}
			if r.wire && c.streaming() && r.kind == KindUnreachable {
				v.kind = KindStreamInterrupted
			}
			return v, true
		}
	}
	return verdict{}, false
}

// byPage knows answers that no API gave: a log-in page, a bot check, a web server that
// knows no such path.
func (c *clues) byPage() (verdict, bool) {
	e := c.e
	page := strings.Contains(strings.ToLower(e.header("Content-Type")), "text/html")
	switch {
	case e.header("Cf-Mitigated") != "", e.Status == 403 && page && len(c.body.codes) == 0 && strings.Contains(c.text, "just a moment"):
		return verdict{kind: KindUnreachable, once: never, variant: "bot_check"}, true
	case page && len(c.body.codes) == 0 && e.Status/100 == 2 && !c.streaming():
		return verdict{kind: KindUnreachable, variant: "page"}, true
	case page && len(c.body.codes) == 0 && e.Status == 404, strings.HasPrefix(c.text, "404 page not found"):
		return verdict{kind: KindMisconfigured, variant: "no_api"}, true
	}
	return verdict{}, false
}

// byQuota tells a used-up plan or day from a limit that passes within minutes, by the
// identifiers and figures beside the words (Google's QuotaFailure and RetryInfo;
// Anthropic's unified limits).
func (c *clues) byQuota() (verdict, bool) {
	if c.status != 429 && !c.hasCode([]string{"resource_exhausted"}) {
		return verdict{}, false
	}
	const longDelay = Millis(300_000) // Google's own client takes more as final
	perDay := false
	for _, id := range c.body.quotas {
		perDay = perDay || strings.Contains(id, "perday") || strings.Contains(id, "per_day") || strings.Contains(id, "daily")
	}
	if perDay || bounded(parseDelay(c.body.delay)) > longDelay || strings.EqualFold(c.e.header("Anthropic-Ratelimit-Unified-Status"), "rejected") {
		return verdict{kind: KindQuota, code: firstOf(c.codes)}, true
	}
	return verdict{}, false
}

// byStatus decides by the HTTP status alone.
func (c *clues) byStatus() (verdict, bool) {
	if kind, variant := kindOfStatus(c.status); kind != "" {
		if c.status == 404 && c.hasCode([]string{"invalid_request_error"}) && !strings.Contains(c.text, "model") {
			return verdict{kind: KindMisconfigured, variant: "no_api"}, true
		}
		return verdict{kind: kind, variant: variant}, true
	}
	return verdict{}, false
}

func kindOfStatus(status int) (Kind, string) {
	switch {
	case status >= 300 && status < 400:
		return KindMisconfigured, "redirect"
	case status == 401:
		return KindAuth, ""
	case status == 402:
		return KindBilling, ""
	case status == 403:
		return KindAuth, "permission"
	case status == 404:
		return KindModelNotFound, ""
	case status == 405:
		return KindMisconfigured, "no_api"
	case status == 407:
		return KindMisconfigured, "proxy"
	case status == 408, status == 504:
		return KindTimeout, ""
	case status == 409, status == 425:
		return KindUnavailable, ""
	case status == 413:
		return KindContextOverflow, ""
	case status == 429:
		return KindRateLimit, ""
	case status == 451:
		return KindAuth, "region"
	case status >= 400 && status < 500:
		return KindInvalidRequest, ""
	case status == 503, status == 529:
		return KindOverloaded, ""
	case status >= 500:
		return KindUnavailable, ""
	}
	return "", ""
}

// byWords decides where there is nothing but a message, or an answer without one.
func (c *clues) byWords() verdict {
	if c.hasCode(invalidCodes) {
		return verdict{kind: KindInvalidRequest, code: c.codeOf(invalidCodes)}
	}
	if v, ok := c.bySpokenStatus(); ok {
		return v
	}
	if v, ok := c.transport().byRules(looseRules); ok {
		if v.kind == KindTimeout && strings.Contains(c.wire, "lookup ") {
			return verdict{kind: KindUnreachable}
		}
		return v
	}
	switch {
	case c.wire == "eof":
		return c.cut()
	case c.body.isError:
		return verdict{kind: KindUnavailable} // an error that an answer of status 200 carries
	case c.e.Status/100 == 2:
		return c.unfinished()
	}
	return verdict{kind: KindUnknown}
}

// invalidCodes say no more than a 400 does.
var invalidCodes = []string{"invalid_request_error", "invalid_argument", "failed_precondition", "bad_request", "validation_error", "out_of_range"}

// transport gives the clues with Err's words before the body's.
func (c *clues) transport() *clues {
	t := *c
	if t.wire != "" && t.wire != t.text {
		t.text = t.wire + "\n" + t.text
		t.grams = trigramsOf(t.text)
	}
	return &t
}

// bySpokenStatus reads a status out of a message. Passed on by somebody, a 503 or 504
// says no more than that the provider has problems.
func (c *clues) bySpokenStatus() (verdict, bool) {
	switch c.spoken {
	case 502, 503, 504:
		return verdict{kind: KindUnavailable}, true
	}
	kind, variant := kindOfStatus(c.spoken)
	return verdict{kind: kind, variant: variant}, kind != ""
}

// spokenStatus is the number that text begins with, or that follows the name of a
// status field; text is in lower case. A number anywhere else is not a status.
func spokenStatus(text string) int {
	text = strings.TrimSpace(text)
	for _, lead := range []string{"http/1.1 ", "http/2 ", "http ", "error: ", "error "} {
		text = strings.TrimPrefix(text, lead)
	}
	if n, ok := leadingStatus(text); ok {
		return n
	}
	for _, name := range []string{"status code", "status_code", "statuscode", "http status", "status"} {
		i := strings.Index(text, name)
		if i < 0 {
			continue
		}
		if n, ok := leadingStatus(strings.TrimLeft(text[i+len(name):], " :=\"'")); ok {
			return n
		}
	}
	return 0
}

func leadingStatus(text string) (int, bool) {
	if len(text) < 3 || len(text) > 3 && (text[3] >= '0' && text[3] <= '9' || text[3] == '.' || text[3] == '%') {
		return 0, false
	}
	n, err := strconv.Atoi(text[:3])
	return n, err == nil && n >= 300 && n <= 599
}

// cut is a connection that ended before it should.
func (c *clues) cut() verdict {
	if c.streaming() {
		return verdict{kind: KindStreamInterrupted}
	}
	return verdict{kind: KindUnreachable}
}

// unfinished is an answer that came, and is none.
func (c *clues) unfinished() verdict {
	switch {
	case c.streaming():
		return verdict{kind: KindStreamInterrupted}
	case len(c.e.Body) == 0 && c.e.Err == nil:
		return verdict{kind: KindEmptyResponse}
	}
	return verdict{kind: KindMalformedResponse, once: never}
}

func (c *clues) streaming() bool {
	return c.e.Phase == PhaseMidStream || c.e.Phase == PhaseEndOfStream
}

func (c *clues) hasCode(codes []string) bool { return c.codeOf(codes) != "" }

func (c *clues) codeOf(codes []string) string {
	for _, have := range c.codes {
		for _, code := range codes {
			if have == code {
				return have
			}
		}
	}
	return ""
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// providerCode is the code that decided, as the provider wrote it, else its first one
// that is not an envelope's.
func (c *clues) providerCode(v verdict) string {
	first := ""
	for _, code := range c.body.codes {
		switch {
		case v.code != "" && strings.EqualFold(code, v.code):
			return code
		case first == "" && !strings.EqualFold(code, "error"):
			first = code
		}
	}
	if v.code != "" && first == "" {
		return v.code
	}
	return first
}

func (c *clues) requestID() string {
	for _, name := range []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid"} {
		if id := c.e.header(name); id != "" {
			return Clip(id, 128)
		}
	}
	return c.body.requestID
}

// detail is what the provider said in its own words, else what the transport did.
func (c *clues) detail() string {
	if len(c.e.Body) > 0 {
		if words := c.body.text(); words != "" {
			return Clip(words, MaxDetail)
		}
		return Clip(plainText(string(c.e.Body)), MaxDetail)
	}
	if c.e.Err != nil {
		return Clip(plainText(c.e.Err.Error()), MaxDetail)
	}
	return ""
}

func (c *clues) retryable(v verdict) bool {
	switch strings.ToLower(c.e.header("X-Should-Retry")) {
	case "true":
		return true
	case "false":
		return false
	}
	switch v.once {
	case never:
		return false
	case always:
		return true
	}
	return v.kind.Retryable()
}

// hints writes down when to come back. Reset headers say when an allowance is full
// again, so they mean something only where one was used up.
func (c *clues) hints(f *Failure) {
	h := retryHint(c.e, &c.body, c.text)
	limited := f.Kind == KindRateLimit || f.Kind == KindQuota
	if h.after == 0 && limited {
		h = h.later(resetHint(c.e))
	}
	f.RetryAfter = h.after
	if f.Kind != KindQuota {
		return
	}
	f.ResetsAt = h.at
	if now := c.e.now(); f.ResetsAt.IsZero() && h.after > 0 && !now.IsZero() {
		f.ResetsAt = now.Add(h.after.Duration())
	}
}
