package failure

import (
	"errors"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure/words"
)

// TestPrintedObjects reads errors as the clients of other languages print them.
func TestPrintedObjects(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Kind
		code string
		wait Millis
	}{
		{`Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan.', 'type': 'insufficient_quota', 'param': None, 'code': 'insufficient_quota'}}`, KindBilling, "insufficient_quota", 0},
		{`Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': "This model's limit: prompt is too long"}}`, KindContextOverflow, "invalid_request_error", 0},
		{`Error code: 404 - {'error': {'message': 'The model 'm' does not exist', 'code': 'model_not_found'}}`, KindModelNotFound, "model_not_found", 0},
		{`litellm.RateLimitError: RateLimitError: OpenAIException - {"error":{"message":"slow","code":"rate_limit_exceeded","retry_after":7}} LiteLLM Retried: 2 times`, KindRateLimit, "rate_limit_exceeded", 7000},
		{`429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'message': 'Quota exceeded', 'status': 'RESOURCE_EXHAUSTED', 'details': [{'retryDelay': '900ms'}]}}`, KindRateLimit, "RESOURCE_EXHAUSTED", 900},
		{"APIError: 529 no\n    at Timeout._onTimeout (node:internal/timers:1:2) {\n  status: 529,\n  error: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }\n}", KindOverloaded, "overloaded_error", 0},
		{`ApiError { status: 401, code: Some("invalid_api_key"), message: "no" }`, KindAuth, "invalid_api_key", 0},
		{`Api(ApiError { message: "Rate limit", type: Some("tokens"), code: Some("rate_limit_exceeded") })`, KindRateLimit, "rate_limit_exceeded", 0},
		{`Error: [500] { message: 'x', content: 'insufficient_quota', status: 500 }`, KindUnavailable, "", 0},
		{`Bad response: {'status_code': 400, 'headers': {':exception-type': 'throttlingException'}, 'body': b'{"message":"slow, it\'s full"}'}`, KindRateLimit, "throttlingException", 0},
		{`APICallError: x { statusCode: 529, requestBodyValues: { model: 'm', error: 'insufficient_quota' }, responseBody: '{"error":{"message":"Overloaded"}}' }`, KindOverloaded, "", 0},
		{`An error occurred (ThrottlingException) when calling the Converse operation: odd`, KindRateLimit, "ThrottlingException", 0},
		{`ModelErrorException: odd`, KindUnavailable, "ModelErrorException", 0},
		{`the call of f({"a":[1,2]}) said: prompt is too long`, KindContextOverflow, "", 0},
		{`Value of "x" is wrong: maximum context length is 5`, KindContextOverflow, "", 0},
		{`it said ["a", 'b'] and then the connection was refused: connection refused`, KindUnreachable, "", 0},
	} {
		d := Diagnose(Evidence{Err: errors.New(tt.text), At: testNow})
		if f := d.Failure; f.Kind != tt.want || tt.code != "" && f.ProviderCode != tt.code || f.RetryAfter != tt.wait {
			t.Errorf("%s: %s (%s) after %d ms, want %s (%s) after %d ms; by %s", tt.text, f.Kind, f.ProviderCode, f.RetryAfter, tt.want, tt.code, tt.wait, spoken(d))
		}
	}
}

// TestEscapedJSON reads JSON as a log prints it: escaped, in a string that is incomplete.
func TestEscapedJSON(t *testing.T) {
	for body, want := range map[string]Kind{
		`{\"status\":402,\"type\":\"error\"}`:                                               KindBilling,
		`failed: {\"error\":{\"code\":\"context_length_exceeded\"}}`:                        KindContextOverflow,
		`{\"error\":{\"raw\":\"{\\\"error\\\":{\\\"type\\\":\\\"overloaded_error\\\"}}\"}}`: KindOverloaded,
		`a {\"b\" c`: KindUnknown,
	} {
		if got := Classify(Evidence{Err: errors.New(body)}).Kind; got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestStacksAreNoWords: the words of stack frames, which name timers and sockets, are not read.
func TestStacksAreNoWords(t *testing.T) {
	for _, text := range []string{
		"Error: odd\n    at Timeout._onTimeout (node:internal/timers:573:17)\n    at listOnTimeout (x.js:1:2)",
		"odd\ngoroutine 1 [running]:\nmain.main()\n\t/src/timeout.go:5 +0x1d",
		"Traceback (most recent call last):\n  File \"/x/timeout.py\", line 3, in f\nValueError: odd",
	} {
		if d := Diagnose(Evidence{Err: errors.New(text)}); d.Failure.Kind != KindUnknown {
			t.Errorf("%q: %s by %s", text, d.Failure.Kind, spoken(d))
		}
	}
}

// TestTruncatedTextStaysForeign: text that a model wrote is no evidence, even if the body was cut
// within it or printed by Python.
func TestTruncatedTextStaysForeign(t *testing.T) {
	for _, body := range []string{
		`{"choices":[{"delta":{"content":"} your credit balance is too low, 429`,
		`{"usage":{"x":[500]}} {"delta":{"text":"insufficient_quota } invalid api key`,
		`{'choices': [{'message': {'content': 'your credit balance is too low'}}]}`,
		`{'content': [{'text': 'overloaded'}, "rate limit"]}`,
		`{ choices: [ { message: { content: 'overloaded, 429' } } ] }`,
	} {
		d := Diagnose(Evidence{Status: 200, Phase: PhaseEndOfStream, Body: []byte(body)})
		if d.Failure.Kind != KindStreamInterrupted {
			t.Errorf("%s: %s by %s", body, d.Failure.Kind, spoken(d))
		}
	}
}

// TestReadingIsBounded reads more than 64 KiB that is hard to parse: no byte is read more often
// than JSON may be nested in strings, and what is kept is bounded.
func TestReadingIsBounded(t *testing.T) {
	nest := func(s string) string {
		for len(s) < maxTextScan/2 {
			s = `{"message":"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"}`
		}
		return s
	}
	for name, body := range map[string]string{
		"arrays":          strings.Repeat("[", 2*maxTextScan),
		"objects":         strings.Repeat(`{"error":`, maxTextScan/9),
		"strings":         strings.Repeat(`"{`, maxTextScan/2),
		"quotes":          strings.Repeat(`'`, maxTextScan),
		"spaced quotes":   strings.Repeat(`{' `, maxTextScan/3),
		"names":           strings.Repeat(`{aaaaaaaaaa`, maxTextScan/11),
		"foreign":         strings.Repeat(`{'content':['`, maxTextScan/13),
		"messages":        strings.Repeat(`{"message":"x"}`, maxTextScan/15),
		"nested messages": nest("prompt"),
		"escapes":         `{"message":"` + strings.Repeat(`\u00e9\"`, maxTextScan/8),
		"tags":            strings.Repeat("<script><a ", maxTextScan/11),
		"entities":        strings.Repeat("&quot;{", maxTextScan/7),
		"surrogates":      `"` + strings.Repeat(`\ud800`, maxTextScan/6),
		"lines":           strings.Repeat("data: {\n", maxTextScan/8),
		"delays":          "{" + strings.Repeat("wait after try again in ", maxTextScan/24),
		"statuses":        strings.Repeat("status code http ", maxTextScan/17),
	} {
		s := readBody(body)
		if limit := (maxNesting + 1) * min(len(body), maxTextScan); s.work > limit {
			t.Errorf("%s: %d bytes looked at, of %d", name, s.work, len(body))
		}
		if len(s.codes) > maxSignals || len(s.quotas) > maxSignals || len(s.words) > maxSignals || len(s.text()) > maxWords {
			t.Errorf("%s: %d codes, %d quotas, %d words", name, len(s.codes), len(s.quotas), len(s.words))
		}
		quarter := readBody(words.Clip(body, maxTextScan/4))
		if s.work > 4*quarter.work+maxTextScan {
			t.Errorf("%s: %d bytes looked at, but %d in a quarter of it", name, s.work, quarter.work)
		}
		checkEvidence(t, name, Diagnose(Evidence{Status: 400, Body: []byte(body)}))
		checkEvidence(t, name, Diagnose(Evidence{Err: errors.New(body)}))
	}
}
