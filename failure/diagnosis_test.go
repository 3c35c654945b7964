package failure

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// checkEvidence checks the properties of every diagnosis's evidence.
func checkEvidence(t interface {
	Helper()
	Errorf(string, ...any)
}, name string, d Diagnosis,
) {
	t.Helper()
	if len(d.Evidence) == 0 || !d.Evidence[0].Decided || d.Evidence[0].Note != "" || d.Failure == nil {
		t.Errorf("%s: nothing decided: %+v", name, d)
		return
	}
	for i, c := range d.Evidence {
		for _, text := range []string{string(c.Source), c.Where, c.Value, c.String()} {
			if !utf8.ValidString(text) || strings.IndexFunc(text, unicode.IsControl) >= 0 {
				t.Errorf("%s: clue %d is not clean: %q", name, i, text)
			}
		}
		if c.Source == "" || c.Value == "" || len(c.Value) > maxClueValue || i > 0 && c.Note == "" {
			t.Errorf("%s: clue %d is not whole: %+v", name, i, c)
		}
		if overruled := c.Note == NoteOverruled || c.Note == NoteSeen; overruled == c.Decided {
			t.Errorf("%s: clue %d decided and did not: %+v", name, i, c)
		}
	}
}

// spoken is the evidence as text; pieces that did not decide are in brackets.
func spoken(d Diagnosis) string {
	var list []string
	for _, c := range d.Evidence {
		text := c.String()
		if c.Note != "" {
			text = string(c.Note) + ": " + text
		}
		if !c.Decided {
			text = "(" + text + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

func TestDiagnoseSaysWhatDecided(t *testing.T) {
	header := func(pairs ...string) map[string][]string {
		h := map[string][]string{}
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = []string{pairs[i+1]}
		}
		return h
	}
	for _, tt := range []struct {
		name string
		e    Evidence
		want string
	}{
		{
			"a code against its status",
			Evidence{Status: 400, Body: []byte(`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`)},
			`code "insufficient_quota" in the body; (overruled: status 400)`,
		},
		{
			"words against code and status",
			Evidence{Status: 400, Body: []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`)},
			`words "prompt is too long"; (overruled: status 400); (overruled: code "invalid_request_error" in the body)`,
		},
		{
			"a status alone, and no retry",
			Evidence{Status: 529, Header: header("X-Should-Retry", "false", "Retry-After", "7")},
			`status 529; retryable: header x-should-retry: false; wait: header retry-after: 7`,
		},
		{
			"a spoken wait",
			Evidence{Status: 429, Body: []byte(`{"error":{"message":"Rate limit reached for gpt-4. Please try again in 9.816s. Visit x","code":"rate_limit_exceeded"}}`)},
			`code "rate_limit_exceeded" in the body; wait: words "try again in 9.816s"; (seen: status 429)`,
		},
		{
			"RetryInfo",
			Evidence{Status: 429, Body: []byte(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"40s"}]}}`)},
			`code "RESOURCE_EXHAUSTED" in the body; wait: retryDelay "40s" in the body; (seen: status 429)`,
		},
		{
			"a day's quota beside a wait of seconds",
			Evidence{Status: 429, Body: []byte(`{"error":{"code":429,"message":"You exceeded your current quota","details":[{"quotaId":"GenerateRequestsPerDayPerProject"},{"retryDelay":"34.07s"}]}}`)},
			`quota id "GenerateRequestsPerDayPerProject"; (overruled: retryDelay "34.07s" in the body); (overruled: status 429)`,
		},
		{
			"a reset header",
			Evidence{Status: 429, At: testNow, Header: header("Anthropic-Ratelimit-Requests-Reset", "2026-03-20T12:00:30Z", "Anthropic-Ratelimit-Requests-Remaining", "0")},
			`status 429; wait: header anthropic-ratelimit-requests-reset: 2026-03-20T12:00:30Z`,
		},
		{
			"a date in words",
			Evidence{Status: 400, At: testNow, Body: []byte(`{"error":{"message":"You have reached your API usage limits. You will regain access on 2026-04-01 at 00:00 UTC."}}`)},
			`words "usage limit"; wait: words "regain access on 2026-04-01 at 00:00 utc"; (overruled: status 400)`,
		},
		{
			"an error in a 200",
			Evidence{Status: 200, Body: []byte(`{"error":{"code":502,"message":"Provider returned error"}}`)},
			`status 502 in the body; (overruled: status 200)`,
		},
		{"a log-in page", Evidence{Status: 200, Header: header("Content-Type", "text/html"), Body: []byte("<p>Please log in</p>")}, `a web page, by its content-type "text/html"; (overruled: status 200)`},
		{"a bot check", Evidence{Status: 403, Header: header("cf-mitigated", "challenge")}, `header cf-mitigated: challenge; (overruled: status 403)`},
		{"a header's code", Evidence{Status: 400, Header: header("X-Amzn-Errortype", "ThrottlingException:http://x")}, `code "ThrottlingException" in the header x-amzn-errortype; (overruled: status 400)`},
		{"the network", Evidence{Err: errors.New("dial tcp 127.0.0.1:1: connect: connection refused")}, `transport error "connection refused"`},
		{"a message", Evidence{Err: errors.New("Error: 503 Service Unavailable")}, `status 503 in the message`},
		{"an adapter", Evidence{Kind: KindTLS, Err: errors.New("x509: certificate has expired")}, `tls, as the adapter saw; variant: transport error "certificate has expired"`},
		{"a failure", Evidence{Err: fmt.Errorf("x: %w", NewFailure(KindContentFilter, OriginModel, "", nil)), Status: 429}, `content_filter, as the failure itself says`},
		{"a cut stream", Evidence{Status: 200, Phase: PhaseMidStream}, `transport error "no end of the stream"`},
		{"a timer", Evidence{Err: timerError{context.DeadlineExceeded}}, `transport error "timeout"`},
		{"nothing", Evidence{}, `nothing that is known`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Diagnose(tt.e)
			checkEvidence(t, tt.name, d)
			if got := spoken(d); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// timerError is an error whose type alone says that it is a timeout.
type timerError struct{ error }

func (timerError) Error() string { return "it took too much" }
func (timerError) Timeout() bool { return true }

// TestEvidenceQuotesNoMore adds a sentence to every phrase: none of it may be quoted.
func TestEvidenceQuotesNoMore(t *testing.T) {
	for _, row := range catalogue(t) {
		e := row.evidence()
		e.Body = []byte(strings.ReplaceAll(string(e.Body), `"message":"`, `"message":"zebra `))
		for _, c := range Diagnose(e).Evidence {
			if strings.Contains(c.Value, "zebra") {
				t.Errorf("%s: %s", row.id, c)
			}
		}
	}
}

// drawEvidence draws meaningful pieces, meaningless pieces, and noise.
func drawEvidence(t *rapid.T) Evidence {
	words := rapid.SampledFrom([]string{
		"", "rate limit", "prompt is too long", "try again in 5s", "\xff\xfe", "insufficient_quota", "\x00\x1b[31m", "5e400", strings.Repeat("é", 300),
		"RESOURCE_EXHAUSTED", "GenerateRequestsPerDay", "overloaded\nnow", "true", "false", "Fri, 20 Mar 2026 12:01:00 GMT", "404", "529", "\u2028",
	})
	e := Evidence{
		Status: rapid.SampledFrom([]int{0, 0, 200, 302, 400, 401, 404, 413, 429, 500, 503, 529, -1, 999}).Draw(t, "status"),
		Kind:   Kind(rapid.SampledFrom([]string{"", "", "", "tls", "timeout", "of_tomorrow"}).Draw(t, "kind")),
		Phase:  rapid.SampledFrom([]Phase{"", PhaseBeforeConnect, PhaseMidStream, PhaseEndOfStream}).Draw(t, "phase"),
		At:     testNow, Header: map[string][]string{},
	}
	for _, name := range []string{
		"Retry-After", "retry-after-ms", "X-Should-Retry", "Cf-Mitigated", "X-Amzn-Errortype", "Anthropic-Ratelimit-Unified-Status",
		"X-Ratelimit-Reset-Tokens", "Content-Type", "Date",
	} {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) == 0 {
			e.Header[name] = []string{words.Draw(t, name)}
		}
	}
	form := rapid.SampledFrom([]string{
		"", "%s", `{"error":{"message":"%s","type":"%s"}}`, `{'error': {'message': '%s', 'code': '%s'}}`, `{ status: 429, code: '%s', retry_after: %s }`,
		`{"quotaId":"%s","retryDelay":"%s"`, "<p>%s</p>", `["%s"]`, `"%s"`,
	}).Draw(t, "form")
	for strings.Contains(form, "%s") {
		form = strings.Replace(form, "%s", words.Draw(t, "words"), 1)
	}
	if rapid.Bool().Draw(t, "as error") {
		e.Err = errors.New(form)
	} else {
		e.Body = []byte(form)
	}
	return e
}

func TestEveryDiagnosisHasItsEvidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		d := Diagnose(e)
		checkEvidence(t, "drawn", d)
		if again := Diagnose(e); !reflect.DeepEqual(d, again) {
			t.Errorf("the same evidence, two diagnoses: %+v, %+v", d, again)
		}
		if f := Classify(e); !reflect.DeepEqual(f, d.Failure) {
			t.Errorf("Classify says %+v, Diagnose %+v", f, d.Failure)
		}
	})
}
