package pi

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
)

// TestGrammar has every form of errorMessage that was seen of either generation.
func TestGrammar(t *testing.T) {
	const (
		first = failure.PhaseBeforeFirstEvent
		mid   = failure.PhaseMidStream
		end   = failure.PhaseEndOfStream
	)
	for said, want := range map[string]struct {
		kind   failure.Kind
		phase  failure.Phase
		status int
		code   string
		after  failure.Millis
	}{
		// An answer of the provider's: status, then JSON or text.
		`429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_1"}`:                                                                  {failure.KindRateLimit, first, 429, "rate_limit_error", 0},
		`429 Rate limit reached for gpt-5 on requests per min. Please try again in 20s.`:                                                                                       {failure.KindRateLimit, first, 429, "", 20000},
		`429: {"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}`: {failure.KindBilling, first, 429, "insufficient_quota", 0},
		`429 You exceeded your current quota, please check your plan and billing details.`:                                                                                     {failure.KindBilling, first, 429, "", 0},
		`Server requested 120s retry delay (max: 60s). 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`:                                         {failure.KindRateLimit, first, 429, "rate_limit_error", 120000},
		`529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                                                                                      {failure.KindOverloaded, first, 529, "overloaded_error", 0},
		`500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}`:                                                                                  {failure.KindUnavailable, first, 500, "api_error", 0},
		`502 <html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>`:                                                                                       {failure.KindUnavailable, first, 502, "", 0},
		`503 status code (no body)`:                 {failure.KindOverloaded, first, 503, "", 0},
		`413 status code (no body)`:                 {failure.KindContextOverflow, first, 413, "", 0},
		`OpenAI API error (413): request too large`: {failure.KindContextOverflow, first, 413, "", 0},
		`401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`:                         {failure.KindAuth, first, 401, "authentication_error", 0},
		`401: {"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key","param":null}`: {failure.KindAuth, first, 401, "", 0},
		`403 {"error":{"type":"permission_error","message":"not allowed"}}`:                                                  {failure.KindAuth, first, 403, "permission_error", 0},
		`404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}`:                                {failure.KindModelNotFound, first, 404, "not_found_error", 0},
		`404: {"message":"The model x does not exist","code":"model_not_found","type":"invalid_request_error"}`:              {failure.KindModelNotFound, first, 404, "model_not_found", 0},
		`404 status code (no body)`: {failure.KindMisconfigured, first, 404, "", 0},
		`400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214000 tokens > 200000 maximum"}}`:                                {failure.KindContextOverflow, first, 400, "", 0},
		`400 This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.`:                                                 {failure.KindContextOverflow, first, 400, "", 0},
		`400: {"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`: {failure.KindContextOverflow, first, 400, "context_length_exceeded", 0},
		`400 {"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`:                       {failure.KindBilling, first, 400, "", 0},
		// An error within the stream.
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                          {failure.KindOverloaded, mid, 0, "overloaded_error", 0},
		`{"type":"error","error":{"type":"api_error","message":"Internal server error"},"request_id":"req_2"}`: {failure.KindUnavailable, mid, 0, "api_error", 0},
		`Provider finish_reason: content_filter`:                                                               {failure.KindContentFilter, end, 0, "content_filter", 0},
		`Provider finish_reason: network_error`:                                                                {failure.KindUnavailable, end, 0, "network_error", 0},
		`The model refused to complete the request`:                                                            {failure.KindContentFilter, end, 0, "", 0},
		`An unknown error occurred`:                                                                            {failure.KindUnknown, mid, 0, "", 0},
		// The connection.
		`Connection error.`: {failure.KindUnreachable, failure.PhaseBeforeConnect, 0, "", 0},
		`Connection error.: connect ECONNREFUSED 127.0.0.1:1`: {failure.KindUnreachable, failure.PhaseBeforeConnect, 0, "", 0},
		`Connection error.: read ECONNRESET`:                  {failure.KindUnreachable, failure.PhaseBeforeConnect, 0, "", 0},
		`Request timed out.`:                                  {failure.KindTimeout, first, 0, "", 0},
		`Request timed out.: This operation was aborted (20)`: {failure.KindTimeout, first, 0, "", 0},
		`terminated`:                  {failure.KindStreamInterrupted, mid, 0, "", 0},
		`terminated: read ECONNRESET`: {failure.KindStreamInterrupted, mid, 0, "", 0},
		`terminated: other side closed (UND_ERR_SOCKET)`:                            {failure.KindStreamInterrupted, mid, 0, "", 0},
		`terminated: Body Timeout Error (UND_ERR_BODY_TIMEOUT)`:                     {failure.KindTimeout, mid, 0, "", 0},
		`Anthropic stream ended before message_stop`:                                {failure.KindStreamInterrupted, end, 0, "", 0},
		`Anthropic stream ended without a stop reason`:                              {failure.KindStreamInterrupted, end, 0, "", 0},
		`Stream ended without finish_reason`:                                        {failure.KindStreamInterrupted, end, 0, "", 0},
		`Google stream ended without a finish reason`:                               {failure.KindStreamInterrupted, end, 0, "", 0},
		`Could not parse Anthropic SSE event content_block_delta: Unexpected token`: {failure.KindMalformedResponse, mid, 0, "", 0},
		`Error reading response: malformed server-sent event JSON.`:                 {failure.KindMalformedResponse, mid, 0, "", 0},
		`fetch failed`: {failure.KindStreamInterrupted, mid, 0, "", 0},
		// Pi itself.
		`Request was aborted.`:                          {failure.KindInterrupted, mid, 0, "", 0},
		`Request aborted`:                               {failure.KindInterrupted, mid, 0, "", 0},
		`This operation was aborted`:                    {failure.KindInterrupted, mid, 0, "", 0},
		"No API key found for anthropic.\n\nUse /login": {failure.KindAuth, failure.PhasePrompt, 0, "", 0},
		`Model not found: x/y`:                          {failure.KindModelNotFound, failure.PhasePrompt, 0, "", 0},
		``:                                              {failure.KindUnknown, mid, 0, "", 0},
	} {
		e, after := read(said, mid)
		f := failure.Classify(e)
		after = max(after, f.RetryAfter)
		if f.Kind != want.kind || f.Phase != want.phase || f.HTTPStatus != want.status || want.code != "" && f.ProviderCode != want.code || after != want.after {
			t.Errorf("%q: %s %s %d %q %d", said, f.Kind, f.Phase, f.HTTPStatus, f.ProviderCode, after)
		}
		if (f.Detail == "") != (said == "") {
			t.Errorf("%q: the words are lost: %q", said, f.Detail)
		}
	}
}

// Whatever Pi says, there is a failure, and the words in it are bounded.
func FuzzGrammar(f *testing.F) {
	for _, seed := range []string{`429: {"message":"x"}`, `Server requested 9s retry delay (max: 1s). 429 x`, "OpenAI API error (413): x", "Provider finish_reason: x", "503 status code (no body)", "\xff{"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		e, after := read(said, failure.PhaseMidStream)
		got := failure.Classify(e)
		if got.Kind == "" || after < 0 || len(got.Detail) > failure.MaxDetail || !utf8.ValidString(got.Detail) || len(e.Body) > maxError {
			t.Errorf("%q: %+v", said, got)
		}
		if e.Err == nil || errors.Unwrap(e.Err) != nil {
			t.Errorf("%q: %v", said, e.Err)
		}
	})
}
