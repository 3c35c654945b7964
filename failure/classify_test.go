package failure

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

var rewrite = flag.Bool("rewrite", false, "write what becomes of the catalogue into testdata")

var testNow = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

// catalogueRow is one row of the fault catalogue.
type catalogueRow struct{ id, provider, kind, status, headers, body, when, class, retryable string }

// catalogue reads the fault catalogue.
func catalogue(tb testing.TB) []catalogueRow {
	tb.Helper()
	path := filepath.Join("..", "faultlab", "catalogue", "faults.tsv")
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var rows []catalogueRow
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		c := strings.Split(line, "\t")
		if i > 0 && len(c) >= 10 {
			rows = append(rows, catalogueRow{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]})
		}
	}
	if len(rows) < 100 {
		tb.Fatalf("%s has only %d rows", path, len(rows))
	}
	return rows
}

// notClassified are the rows that no classifier ever sees, each with the reason.
var notClassified = map[string]string{
	"A40": "not a failure: the adapter goes on (pause_turn)",
	"O12": "decided by the code; see TestResponsesFailedCodes",
	"O33": "not a failure: finish_reason is the terminal event",
	"O35": "not a failure", "O36": "not a failure", "R15": "cannot be seen",
	"R19": "not a failure; see TestModelTextIsNoEvidence",
	"T39": "not a failure: the adapter repairs UTF-8",
	"T41": "not a failure: the grammar of streams", "T44": "not a failure",
	"T55": "a header beside any status; see TestShouldRetry", "T56": "a header beside any status; see TestShouldRetry",
	"T64": "the cause of the cancel decides, which the runner knows",
}

// observed are the rows that only the adapter can recognize, while it reads the stream: it reports
// what it saw.
var observed = map[string]Kind{
	"A39": KindEmptyResponse,     // a proper end without a content block
	"A41": KindMalformedResponse, // arguments that are not JSON
	"A42": KindMalformedResponse, // a tool that was not offered
	"A43": KindMalformedResponse, // blocks out of order
	"G22": KindEmptyResponse,     // thoughts only
	"O31": KindMalformedResponse, // arguments that are not JSON
	"R07": KindTimeout,           // no progress in time
	"T35": KindTimeout, "T36": KindTimeout, "T37": KindTimeout,
	"T38": KindMalformedResponse, // the cap on a line
	"T42": KindMalformedResponse, // the same event twice
	"T29": KindMalformedResponse, // not gzip
	"G29": KindMalformedResponse, // an unknown finish reason
}

// retryableDiffers are the rows whose column differs from the result, with the reason.
var retryableDiffers = map[string]string{
	"A37": "spec §2: once, with a larger limit, so the kind is retryable",
	"O29": "spec §2: once, with a larger limit, so the kind is retryable",
	"T37": "the adapter's clock gives the kind alone, and spec §2 says that a timeout is retryable",
	"T38": "the adapter's cap gives the kind alone; spec §2 says that a malformed answer is retryable",
	"T58": "spec §2: a rate limit is retryable after retry_after, however long; the runner parks or offers",
}

func (row catalogueRow) evidence() Evidence {
	e := Evidence{Provider: row.provider, Model: row.provider + "/test-model", Kind: observed[row.id], At: testNow, Header: map[string][]string{}}
	e.Status, _ = strconv.Atoi(row.status)
	for _, header := range strings.Split(row.headers, "; ") {
		if name, value, ok := strings.Cut(header, ": "); ok {
			e.Header[name] = []string{value}
		}
	}
	e.Phase = map[string]Phase{
		"before-connect": PhaseBeforeConnect, "before-headers": PhaseBeforeFirstEvent, "headers": PhaseBeforeFirstEvent,
		"before-first-token": PhaseBeforeFirstEvent, "mid-stream": PhaseMidStream, "end-of-stream": PhaseEndOfStream,
	}[row.when]
	switch _, goErr, ok := strings.Cut(row.body, "Go: "); {
	case ok:
		e.Err = errors.New(goErr)
	case row.body == "(empty)" || row.body == "(any)" || row.body == "-":
	default:
		e.Body = []byte(row.event())
	}
	return e
}

// event is what the adapter passes on: the body or, of a stream, its last event.
func (row catalogueRow) event() string {
	body := row.body
	if !strings.HasPrefix(body, "SSE") {
		return body
	}
	body = strings.ReplaceAll(body, `\n`, "\n")
	if _, stop, ok := strings.Cut(body, "finish_reason "); ok {
		return `{"choices":[{"delta":{},"finish_reason":` + stop + `}]}`
	}
	if i := strings.Index(body, `"incomplete_details"`); i >= 0 {
		return `{"type":"response.incomplete","response":{"status":"incomplete",` + body[i:] + "}}"
	}
	if i := strings.LastIndex(body, "{\"error\""); i >= 0 {
		return body[i:]
	}
	if i := strings.Index(body, "{"); i >= 0 {
		return body[i:]
	}
	return ""
}

// wantRetryable is what the row's column says; the second result is false if the column leaves it
// open.
func (row catalogueRow) wantRetryable() (bool, bool) {
	if retryableDiffers[row.id] != "" {
		return false, false
	}
	switch row.retryable {
	case "yes", "once":
		return true, true
	case "no", "after_repair", "after_refresh", "switch":
		return false, true
	case "suspend": // not now: for a quota, not before its reset
		return Kind(row.kind).Retryable(), true
	}
	return false, false
}

// TestCatalogue classifies each row as it is in the table, and writes the results into testdata for
// the report of bench/faults.
func TestCatalogue(t *testing.T) {
	right, total := 0, 0
	became := "row\tkind\tretryable\tretry_after_ms\n"
	for _, row := range catalogue(t) {
		if why := notClassified[row.id]; why != "" {
			if row.kind != "-" {
				t.Errorf("%s is not tested (%s) although the catalogue gives its kind", row.id, why)
			}
			continue
		}
		total++
		d := Diagnose(row.evidence())
		checkEvidence(t, row.id, d)
		f := d.Failure
		want, sure := row.wantRetryable()
		switch {
		case string(f.Kind) != row.kind:
			t.Errorf("%s: %s, want %s: %s %s", row.id, f.Kind, row.kind, row.status, row.body)
		case sure && f.Retryable != want:
			t.Errorf("%s: %s retryable %v, want %s", row.id, f.Kind, f.Retryable, row.retryable)
		default:
			right++
		}
		checkWords(t, row.id, f)
		became += fmt.Sprintf("%s\t%s\t%v\t%d\n", row.id, f.Kind, f.Retryable, f.RetryAfter)
	}
	golden(t, filepath.Join("testdata", "offline.tsv"), became)
	t.Logf("%d of %d rows right (%.1f %%), %d not failures", right, total, 100*float64(right)/float64(total), len(notClassified))
	for id, why := range retryableDiffers {
		t.Logf("%s: retryable is not the column's: %s", id, why)
	}
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != got {
		t.Errorf("%s is not what becomes of the catalogue (make classify-report writes it down); now it is:\n%s", path, got)
	}
}

// waits is each row's Retry-After; the rows that are missing here give none, or none that is
// plausible.
var waits = map[string]Millis{
	"A20": 0, // in 11 days: longer than a wait may be, so only ResetsAt is set; see TestQuotaHasItsReset
	"G01": 40_026, "G25": 3_600_000, "O01": 9816, "T58": 7_200_000,
	"G02": 0, // 34 s, which is not meant: the daily quota is used up
	"O41": 0, // years ago
	"T57": 0, "T61": 0,
	"T59": 0, // in eight months, by the clock of these tests; see TestHintUsesTheDateHeader
}

func TestCatalogueWaits(t *testing.T) {
	for _, row := range catalogue(t) {
		f := Classify(row.evidence())
		if f.RetryAfter != waits[row.id] {
			t.Errorf("%s: after %d ms, want %d", row.id, f.RetryAfter, waits[row.id])
		}
		if row.id == "G02" && !f.ResetsAt.IsZero() {
			t.Errorf("%s resets at %s, want no promise", row.id, f.ResetsAt)
		}
	}
}

// variantsOfClasses is the variant for each of the catalogue's finer classes.
var variantsOfClasses = map[string]string{
	"bad_history": "history", "rate_limit.too_big": "too_big", "region": "region", "permission": "permission", "clock_skew": "clock",
	"auth.refreshable": "expired_login", "tls.clock": "clock", "proxy.auth": "proxy", "security.redirect": "redirect",
}

func TestCatalogueVariants(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range catalogue(t) {
		want, ok := variantsOfClasses[row.class]
		if !ok {
			continue
		}
		seen[row.class] = true
		if f := Classify(row.evidence()); f.Variant != want {
			t.Errorf("%s: variant %q, want %q: %s", row.id, f.Variant, want, row.body)
		}
	}
	if len(seen) != len(variantsOfClasses) {
		t.Errorf("only %v were tested", seen)
	}
}

// TestCatalogueMutations wraps every body in what gateways wrap it in.
func TestCatalogueMutations(t *testing.T) {
	str := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	mutations := map[string]func(string) string{
		"upper case":       strings.ToUpper,
		"swapped case":     swapCase,
		"JSON in message":  func(s string) string { return `{"error":{"message":` + str(s) + `}}` },
		"JSON in string":   str,
		"twice nested":     func(s string) string { return `{"error":{"message":` + str(`{"error":{"message":`+str(s)+`}}`) + `}}` },
		"array":            func(s string) string { return "[" + s + "]" },
		"array of strings": func(s string) string { return "[" + str(s) + "]" },
		"HTML around":      func(s string) string { return "<html><body><pre>" + s + "</pre></body></html>" },
		"HTML with a style": func(s string) string {
			return "<html><style>a{b:\"c\"}</style><body><pre>" + s + "</pre></body></html>"
		},
		"HTML escaped":   func(s string) string { return "<html><body><pre>" + html.EscapeString(s) + "</pre></body></html>" },
		"prefix":         func(s string) string { return "litellm.APIError: OpenAIException - " + s },
		"suffix":         func(s string) string { return s + " (request req_42950300, 2 tries)" },
		"cut short":      func(s string) string { return strings.TrimRight(s, "}]") },
		"spaces":         func(s string) string { return strings.ReplaceAll(s, `":`, "\" :\n  ") },
		"stream event":   func(s string) string { return "event: error\ndata: " + s + "\n\n" },
		"other model":    otherNames,
		"other numbers":  otherNumbers,
		"other ids":      func(s string) string { return someID.ReplaceAllString(s, "${1}_5034290") },
		"order":          reorder,
		"Python":         pythonRepr,
		"Python, prefix": func(s string) string { return "OpenAIException - " + pythonRepr(s) },
	}
	for _, row := range catalogue(t) {
		e := row.evidence()
		if notClassified[row.id] != "" || !strings.HasPrefix(string(e.Body), "{") {
			continue
		}
		if k := Kind(row.kind); k == KindStreamInterrupted || k == KindMalformedResponse {
			continue // these have no error object: wrapped as one they would mean something else
		}
		whole := Classify(e)
		for name, mutate := range mutations {
			m := e
			m.Body = []byte(mutate(string(e.Body)))
			d := Diagnose(m)
			if f := d.Failure; string(f.Kind) != row.kind || f.Retryable != whole.Retryable || f.Variant != whole.Variant {
				t.Errorf("%s, %s: %s/%s (retryable %v), want %s/%s (%v): %s\nby %s", row.id, name,
					f.Kind, f.Variant, f.Retryable, row.kind, whole.Variant, whole.Retryable, m.Body, spoken(d))
			}
		}
	}
}

var (
	someID   = regexp.MustCompile(`\b(req|call|resp|toolu|rs|msg|gen)_[A-Za-z0-9]+`)
	someName = regexp.MustCompile(`gpt-4o?|gemini-[a-z0-9.-]*[a-z0-9]|llama9?|org-x|claude-[a-z0-9-]+`)
)

func otherNames(s string) string { return someName.ReplaceAllString(s, "m-429-503") }

// pythonRepr prints a JSON document as Python prints the parsed value.
func pythonRepr(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	var b strings.Builder
	writePython(&b, v)
	return b.String()
}

func writePython(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case string:
		quote := "'"
		if strings.Contains(v, "'") && !strings.Contains(v, `"`) {
			quote = `"`
		}
		v = strings.NewReplacer(`\`, `\\`, "\n", `\n`, quote, `\`+quote).Replace(v)
		b.WriteString(quote + v + quote)
	case []any:
		b.WriteString("[")
		for i, item := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			writePython(b, item)
		}
		b.WriteString("]")
	case map[string]any:
		b.WriteString("{")
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "'%s': ", name)
			writePython(b, v[name])
		}
		b.WriteString("}")
	default:
		fmt.Fprint(b, v)
	}
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// otherNumbers changes the numbers in sentences, but not statuses, dates, hints and the zero that
// means "never".
func otherNumbers(s string) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		if len(w) >= 4 && strings.IndexFunc(w, func(r rune) bool { return r < '0' || r > '9' }) < 0 {
			words[i] = "9" + w
		}
	}
	return strings.Join(words, " ")
}

// reorder marshals the body again: encoding/json sorts the keys.
func reorder(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func TestHints(t *testing.T) {
	tests := []struct {
		name, header, value, body string
		want                      Millis
	}{
		{"seconds", "Retry-After", "7", "", 7000},
		{"float", "Retry-After", "1.5", "", 1500},
		{"milliseconds", "retry-after-ms", "250", "", 250},
		{"two hours", "Retry-After", "7200", "", 7_200_000},
		{"date", "Retry-After", "Fri, 20 Mar 2026 12:01:00 GMT", "", 60_000},
		{"past date", "Retry-After", "Fri, 20 Mar 2026 11:01:00 GMT", "", 0},
		{"zero", "Retry-After", "0", "", 0},
		{"negative", "Retry-After", "-5", "", 0},
		{"not a number", "Retry-After", "NaN", "", 0},
		{"infinite", "Retry-After", "Inf", "", 0},
		{"words", "Retry-After", "abc", "", 0},
		{"far too long", "Retry-After", "1e9", "", 0},
		{"overflow", "Retry-After", "99999999999999", "", 0},
		{"Anthropic's reset", "anthropic-ratelimit-requests-reset", "2026-03-20T12:00:30Z", "", 30_000},
		{"epoch", "anthropic-ratelimit-unified-reset", "1774008060", "", 60_000},
		{"old epoch", "x-ratelimit-reset-requests", "1722556800", "", 0},
		{"Go duration", "x-ratelimit-reset-tokens", "6m0s", "", 360_000},
		{"short Go duration", "x-ratelimit-reset-requests", "20ms", "", 20},
		{"RetryInfo", "", "", `{"error":{"code":429,"details":[{"@type":"x/google.rpc.RetryInfo","retryDelay":"40s"}]}}`, 40_000},
		{"RetryInfo in ms", "", "", `{"error":{"details":[{"retryDelay":"900ms"}]}}`, 900},
		{"retry in", "", "", `{"error":{"message":"Please retry in 40.02s."}}`, 40_020},
		{"try again in", "", "", `{"error":{"message":"Please try again in 9.816s. Visit x"}}`, 9816},
		{"minutes", "", "", `{"error":{"message":"Please try again in 7m12s"}}`, 432_000},
		{"after seconds", "", "", `{"error":{"message":"Retry after 86400 seconds"}}`, 86_400_000},
		{"no hint in prose", "", "", `{"error":{"message":"Try after lunch"}}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := Evidence{Status: 429, Provider: "openai", At: testNow, Body: []byte(tt.body), Header: map[string][]string{}}
			if tt.header != "" {
				e.Header[tt.header] = []string{tt.value}
			}
			f := Classify(e)
			if f.Kind != KindRateLimit || f.RetryAfter != tt.want {
				t.Errorf("%s after %d ms, want rate_limit after %d ms", f.Kind, f.RetryAfter, tt.want)
			}
		})
	}
}

func TestHintUsesTheDateHeader(t *testing.T) {
	f := Classify(Evidence{Status: 429, At: testNow.Add(-time.Hour), Header: map[string][]string{
		"Retry-After": {"Fri, 20 Mar 2026 12:01:00 GMT"}, "Date": {"Fri, 20 Mar 2026 12:00:50 GMT"},
	}})
	if f.RetryAfter != 10_000 {
		t.Errorf("%d ms, want 10 s by the provider's clock", f.RetryAfter)
	}
}

func TestFullAllowancesDoNotWait(t *testing.T) {
	f := Classify(Evidence{Status: 429, At: testNow, Header: map[string][]string{
		"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"9.816s"},
		"X-Ratelimit-Remaining-Requests": {"59"}, "X-Ratelimit-Reset-Requests": {"1h"},
	}})
	if f.RetryAfter != 9816 {
		t.Errorf("%d ms, want 9816", f.RetryAfter)
	}
}

func TestQuotaHasItsReset(t *testing.T) {
	f := Classify(Evidence{Status: 400, Provider: "anthropic", At: testNow, Body: []byte(
		`{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}}`)})
	if want := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC); f.Kind != KindQuota || !f.ResetsAt.Equal(want) {
		t.Errorf("%s, resets at %s, want quota at %s", f.Kind, f.ResetsAt, want)
	}
}

// TestGatewaysStatus: a 504 says that the provider has problems, as 502 and 503 do, unless its text
// is about a timeout.
func TestGatewaysStatus(t *testing.T) {
	for body, want := range map[string]Code{
		"": CodeProviderUnavailable, `{"error":{"message":"","code":"bad_response_status_code"}}`: CodeProviderUnavailable,
		"The model is not available. Please try again later.":                                                               CodeProviderUnavailable,
		"<html><h1>504 Gateway Time-out</h1></html>":                                                                        CodeProviderTimeout,
		`{"error":{"message":"The upstream timed out"}}`:                                                                    CodeProviderTimeout,
		`{"error":{"code":504,"message":"Deadline expired before operation could complete.","status":"DEADLINE_EXCEEDED"}}`: CodeProviderTimeout,
	} {
		if f := Classify(Evidence{Status: 504, Provider: "anthropic", Body: []byte(body)}); f.Code != want || !f.Retryable {
			t.Errorf("%q: %s, want %s", body, f.Code, want)
		}
	}
}

// TestMessagesAlone is the list in issue "Every provider failure": messages without a status or a
// body.
func TestMessagesAlone(t *testing.T) {
	for message, want := range map[string]Kind{
		"fetch failed": KindUnreachable, "Failed to fetch": KindUnreachable, "getaddrinfo ENOTFOUND api.anthropic.com": KindUnreachable,
		"connect ECONNREFUSED 127.0.0.1:1": KindUnreachable, "read ECONNRESET": KindUnreachable, "EAI_AGAIN": KindUnreachable,
		"network error": KindUnreachable, "fetch failed: ENOTFOUND api.anthropic.com": KindUnreachable,
		"timeout": KindTimeout, "Request timed out.": KindTimeout, "TimeoutError": KindTimeout, "AbortError: This operation was aborted": KindTimeout,
		"401 invalid api key": KindAuth, "unauthorized": KindAuth, "429 rate limit": KindRateLimit,
		"502": KindUnavailable, "503": KindUnavailable, "504": KindUnavailable, "502 Bad Gateway": KindUnavailable,
		"503 Service Unavailable": KindUnavailable, "504 Gateway Timeout": KindUnavailable, "unavailable": KindUnavailable,
		"overloaded": KindOverloaded, "Overloaded": KindOverloaded, "HTTP 429": KindRateLimit, "status code: 401": KindAuth,
		"litellm.RateLimitError: slow down": KindRateLimit, "litellm.ContextWindowExceededError: too long": KindContextOverflow,
		"": KindUnknown, "something odd": KindUnknown,
		"request req_429500 was odd": KindUnknown, "it costs $5.00 for 429 tokens": KindUnknown, "order 503 of 504 was odd": KindUnknown,
	} {
		if f := Classify(Evidence{Err: errors.New(message), Provider: "anthropic"}); f.Kind != want {
			t.Errorf("%q: %s, want %s", message, f.Kind, want)
		}
	}
}

// TestMessagesOfTheWild are errors as providers and libraries are known to word them; none is in
// the catalogue.
func TestMessagesOfTheWild(t *testing.T) {
	for _, tt := range []struct {
		status int // 0: there is only text
		text   string
		want   Kind
	}{
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, KindBilling},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute"}}`, KindRateLimit},
		{429, `{"error":{"message":"Rate limit reached for model llama in organization on tokens per day (TPD): Limit 100000, Used 99336. Please try again in 12m3s.","code":"rate_limit_exceeded"}}`, KindQuota},
		{400, `{"error":{"message":"'messages.0.content' too large for model: expected string with max length","code":null,"type":"invalid_request_error"}}`, KindInvalidRequest},
		{400, `{"error":{"message":"Prompt exceeds max length","code":"1261"}}`, KindContextOverflow},
		{500, `{"error":{"message":"context size exceeded: 5000 > 4096","type":"server_error"}}`, KindContextOverflow},
		{400, `{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`, KindContextOverflow},
		{404, `{"error":{"message":"The model 'gpt-9' does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}`, KindModelNotFound},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}`, KindModelNotFound},
		{402, `{"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens. You requested up to 8192 tokens"}}`, KindBilling},
		{429, `{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-day","metadata":{}}}`, KindQuota},
		{429, `{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"deepseek is temporarily rate-limited upstream. Please retry shortly"}}}`, KindRateLimit},
		{401, `{"error":{"message":"No auth credentials found","code":401}}`, KindAuth},
		{400, `{"error":{"message":"litellm.BadRequestError: OpenAIException - Invalid schema for function 'x': In context=(), 'required' is missing","type":null,"code":"400"}}`, KindInvalidRequest},
		{400, `{"error":{"message":"litellm.ContextWindowExceededError: This model's maximum context length is 4097 tokens","code":"400"}}`, KindContextOverflow},
		{400, `{"error":{"message":"max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude","type":"invalid_request_error"}}`, KindInvalidRequest},
		{400, `{"error":{"message":"messages.1.content.0: Invalid signature in thinking block","type":"invalid_request_error"}}`, KindInvalidRequest},
		{503, `{"error":{"message":"Service Unavailable","type":"server_error"}}`, KindUnavailable},
		{403, `{"error":{"message":"Your account is not active, please check your billing details","code":"billing_not_active"}}`, KindBilling},
		{0, "Post \"https://api.anthropic.com/v1/messages\": dial tcp: lookup api.anthropic.com on 127.0.0.53:53: read udp 127.0.0.1:5: i/o timeout", KindUnreachable},
		{0, "Post \"x\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)", KindTimeout},
		{0, "POST \"https://api.openai.com/v1/chat/completions\": 429 Too Many Requests {\"message\":\"Rate limit\",\"type\":\"requests\"}", KindRateLimit},
		{0, "Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}", KindOverloaded},
		{0, "Connection error.", KindUnreachable},
		{0, "terminated", KindStreamInterrupted},
		{0, "socket hang up", KindUnreachable},
		{0, "invalid character '<' looking for beginning of value", KindMalformedResponse},
		{400, `{"error":{"message":"This request has triggered the content management policy","code":"content_filter"}}`, KindContentFilter},
		{400, `{"error":{"code":"InvalidParameter","message":"Range of input length should be [1, 98304]"}}`, KindContextOverflow},
		{400, `{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<tool>"}}`, KindMalformedResponse},
		{429, `{"error":{"message":"Concurrency limit exceeded for user, please retry later"}}`, KindRateLimit},
		{400, `{"error":{"message":"The file 'x' does not exist in this model's container"}}`, KindInvalidRequest},
	} {
		e := Evidence{Status: tt.status, Provider: "p", Body: []byte(tt.text)}
		if tt.status == 0 {
			e.Body, e.Err = nil, errors.New(tt.text)
		}
		if f := Classify(e); f.Kind != tt.want {
			t.Errorf("%s, want %s: %d %s", f.Kind, tt.want, tt.status, tt.text)
		}
	}
}

func TestResponsesFailedCodes(t *testing.T) {
	for code, want := range map[string]Kind{
		"rate_limit_exceeded": KindRateLimit, "server_error": KindUnavailable, "invalid_prompt": KindContentFilter,
		"data_residency_mismatch": KindInvalidRequest, "bio_policy": KindContentFilter, "vector_store_timeout": KindUnavailable,
	} {
		body := fmt.Sprintf(`{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":%q,"message":"x"}}}`, code)
		f := Classify(Evidence{Status: 200, Phase: PhaseMidStream, Body: []byte(body)})
		if f.Kind != want || f.ProviderCode != code && code != "x" {
			t.Errorf("%s: %s (%s), want %s", code, f.Kind, f.ProviderCode, want)
		}
	}
}

func TestModelTextIsNoEvidence(t *testing.T) {
	for _, body := range []string{
		`{"choices":[{"delta":{"content":"Error 429: too many requests"}}]}`,
		`{"type":"content_block_delta","delta":{"type":"text_delta","text":"your credit balance is too low"}}`,
		`{"choices":[{"message":{"content":"{\"error\":{\"code\":\"insufficient_quota\"}}"}}]}`,
		`{"content":[{"type":"tool_use","input":{"error":{"code":"insufficient_quota","message":"429 rate limit"}}}]}`,
	} {
		f := Classify(Evidence{Status: 200, Phase: PhaseEndOfStream, Body: []byte(body)})
		if f.Kind != KindStreamInterrupted {
			t.Errorf("%s: %s, want stream_interrupted: the stream only ended", body, f.Kind)
		}
	}
}

func TestShouldRetry(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false} {
		for _, status := range []int{400, 429, 500} {
			f := Classify(Evidence{Status: status, Header: map[string][]string{"X-Should-Retry": {value}}})
			if f.Retryable != want {
				t.Errorf("%d with x-should-retry: %s is retryable: %v", status, value, f.Retryable)
			}
		}
	}
}

func TestAFailureStaysItself(t *testing.T) {
	cause := errors.New("it broke")
	made := NewFailure(KindContentFilter, OriginModel, "", cause)
	made.Retryable = true
	f := Classify(Evidence{Err: fmt.Errorf("call: %w", made), Provider: "openai", Status: 429, Phase: PhaseMidStream})
	if f == made || f.Kind != made.Kind || !f.Retryable || f.Provider != "openai" || f.Phase != PhaseMidStream || !errors.Is(f, cause) || f.Title == "" {
		t.Errorf("%+v", f)
	}
}

func TestClassifyKeepsItsFacts(t *testing.T) {
	cause := errors.New("boom")
	f := Classify(Evidence{
		Err: cause, Status: 529, Provider: "anthropic", Model: "anthropic/m", Phase: PhaseBeforeFirstEvent,
		Header: map[string][]string{"Request-Id": {"req_9"}},
		Body:   []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	})
	if f.Kind != KindOverloaded || f.Code != CodeProviderUnavailable || f.ProviderCode != "overloaded_error" || f.RequestID != "req_9" ||
		f.Detail != "Overloaded" || !errors.Is(f, cause) || f.Origin != OriginModel || f.HTTPStatus != 529 {
		t.Errorf("%+v", f)
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(429, "7", `{"error":{"message":"Please retry in 40s"}}`, "503 unavailable", "mid_stream")
	f.Add(0, "", "\xff{\"error\":\"\\ud800\\", "x509: oh", "")
	f.Add(200, "NaN", "<script>", "", "end_of_stream")
	f.Add(400, "1e400", strings.Repeat(`{"error":"`, 50), "", "")
	f.Add(0, "", "", `Error code: 429 - {'error': {'message': 'it\'s full', 'code': None}}`, "")
	f.Add(200, "", "{ status: 429, code: Some(\"x\"), message: `y` } tail", "odd\n    at f (x.js:1:2)", "end_of_stream")
	f.Add(500, "", "", "d'中 and l’한도: an article, and nothing that it belongs to", "")
	f.Fuzz(func(t *testing.T, status int, retryAfter, body, message, phase string) {
		e := Evidence{Status: status, Body: []byte(body), Phase: Phase(phase), At: testNow, Header: map[string][]string{"Retry-After": {retryAfter}}}
		if message != "" {
			e.Err = errors.New(message)
		}
		d := Diagnose(e)
		checkEvidence(t, "fuzz", d)
		got := d.Failure
		if !slices.Contains(Kinds(), got.Kind) || got.Code != got.Kind.Code() {
			t.Fatalf("kind %q", got.Kind)
		}
		if got.RetryAfter < 0 || got.RetryAfter > MaxDelay {
			t.Fatalf("retry after %d ms", got.RetryAfter)
		}
		if len(got.Detail) > MaxDetail || !utf8.ValidString(got.Detail) {
			t.Fatalf("detail of %d bytes", len(got.Detail))
		}
		checkWords(t, "fuzz", got)
	})
}

func BenchmarkClassify(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10} {
		body := `{"type":"error","error":{"details":null,"type":"invalid_request_error","message":"` + strings.Repeat("a sentence that no rule knows. ", size/32) + `"}}`
		e := Evidence{Status: 400, Provider: "anthropic", Model: "anthropic/m", Body: []byte(body), At: testNow}
		b.Run(strconv.Itoa(size>>10)+"KiB", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Classify(e)
			}
		})
	}
}
