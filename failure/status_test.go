package failure

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSpokenStatus(t *testing.T) {
	for text, want := range map[string]int{
		"429": 429, "429 rate limit": 429, "503: no": 503, "[429 Too Many Requests] x": 429, "Error: 502": 502, "error 404, message": 404,
		"HTTP 503": 503, "HTTP/1.1 401 Unauthorized": 401, "http error 500": 500, "Error code: 529 - {}": 529, "Request failed with status code 429": 429,
		"got status: 503 from it": 503, "status=500": 500, "server said HTTP 502": 502, "404 page not found": 404, "408 Request Timeout": 408,
		"500ms have passed": 0, "5030 things": 0, "429abc": 0, "503é": 0, "500 tokens": 0, "429-abc": 0, "503.5": 0, "500,000 of them": 0, "429%": 0, "2026-05-03": 0, "503/504": 0,
		"接口返回 503，请稍后再试": 503, "请求返回（401）": 401, "ステータスコード: 429": 429, "код ошибки: 402": 402, "Fehler 403": 403, "返回 500 条": 0,
		"Upstream HTTP error from Ollama: 400": 400, "Upstream HTTP error in line: 4000": 0, "the last of them: 400": 0,
		"RateLimitError: 429 slow": 429, "litellm.APIError: APIError: 503 bad": 503, "requests.exceptions.HTTPError: 422 Client Error: x": 422, "[API Error: 400 bad": 400,
		"fetching https://h/x: [429 Too Many Requests] x": 429, "java.io.IOException: 502, bad": 502,
		"ValueError: 404 items": 0, "x429 too many requests": 0, "error in line: 404 x": 0, "the 503 services": 0, "error: error: error: error: error: 503": 503,
		"order 503 was odd": 0, "$500": 0, "req_429": 0, "1.2.3.500": 0, "status 2000": 0, "status 200": 0, "substatus 500": 0, "err 5000": 0,
	} {
		if got := gather(&Evidence{Err: errors.New(text)}).spoken; got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestNumbersAreNoStatus puts numbers that look like statuses into a sentence, as identifiers,
// prices, dates and counts: its kind does not change.
func TestNumbersAreNoStatus(t *testing.T) {
	number := rapid.SampledFrom([]string{"401", "402", "403", "404", "413", "429", "500", "502", "503", "504", "529"})
	form := rapid.SampledFrom([]string{
		"req_%s", "call-%s-a", "id %sabc", "org-%s", "$%s", "$%s.00", "%s.25 USD", "EUR %s", "2026-%s", "at 12:%s", "%s tokens", "%s requests", "limit %s,",
		"%s of %[1]s", "v%s", "#%s", "%s%%", "port 1%s", "10.0.0.%s", "x%[1]sy%[1]s", "line %s", "%sms", "about %s words", "between %s and 600", "/v1/%s/x",
	})
	base := rapid.SampledFrom([]string{
		"something odd", "the tool said no", "prompt is too long", "Rate limit reached", "your credit balance is too low", "model `x` does not exist",
		"Overloaded", "connection refused", "no such host", "invalid api key",
	})
	rapid.Check(t, func(t *rapid.T) {
		sentence := base.Draw(t, "base")
		want := sentence
		words := strings.Fields(sentence)
		for range rapid.IntRange(1, 4).Draw(t, "numbers") {
			text := strings.ReplaceAll(fmt.Sprintf(form.Draw(t, "form"), number.Draw(t, "number")), "%!(EXTRA", "")
			words = append(words, "("+text+")", text)
		}
		sentence = strings.Join(words, " ")
		for _, status := range []int{0, 400} {
			plain, numbered := inEnvelope(want, status), inEnvelope(sentence, status)
			a, b := Diagnose(plain), Diagnose(numbered)
			if a.Failure.Kind != b.Failure.Kind || a.Failure.Variant != b.Failure.Variant || a.Failure.Retryable != b.Failure.Retryable {
				t.Fatalf("%q: %s by %s, without the numbers %s", sentence, b.Failure.Kind, spoken(b), a.Failure.Kind)
			}
		}
	})
}

// inEnvelope is the evidence of a message alone, or of an answer with the message.
func inEnvelope(words string, status int) Evidence {
	if status == 0 {
		return Evidence{Err: errors.New(words)}
	}
	message, _ := json.Marshal(words)
	return Evidence{Status: status, Body: fmt.Appendf(nil, `{"error":{"message":%s}}`, message)}
}
