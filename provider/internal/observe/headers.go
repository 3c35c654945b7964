package observe

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// The limits of what is told of headers: of one value before and after it is shortened, and of all
// names and values of one direction, in bytes.
const (
	maxHeaderRead  = 1 << 10
	maxHeaderValue = 160
	maxHeaders     = 1 << 10
)

// sentPlain are the headers of a request whose values say nothing about who sends it.
var sentPlain = []string{
	"Content-Length", "Content-Type", "Accept", "Accept-Encoding", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "User-Agent",
	"X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-Retry-Count", "X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout",
}

// sentHidden are headers of a request that are only named: their values are credentials, accounts,
// sessions or whatever a caller wrote. A name that is in neither list is a caller's own words.
var sentHidden = []string{
	"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Proxy-Authorization", "Cookie", "Openai-Organization", "Openai-Project",
	"Anthropic-Dangerous-Direct-Browser-Access", "Http-Referer", "X-Title", "Idempotency-Key", "X-App", "X-Goog-Api-Client", "X-Goog-User-Project",
	"X-Claude-Code-Session-Id", "Session-Id", "Thread-Id", "Originator", "Traceparent", "Tracestate", "X-Request-Id", "X-Client-Request-Id",
	"X-Stainless-Arch", "X-Stainless-Os", "X-Stainless-Helper-Method",
}

// received are the headers of an answer that help to explain it, in the order of how much they say.
var received = []string{
	"Retry-After", "Retry-After-Ms", "X-Should-Retry",
	"Request-Id", "X-Request-Id", "X-Amzn-Requestid", "X-Amzn-Errortype", "Apim-Request-Id", "X-Ms-Request-Id", "X-Correlation-Id", "X-Trace-Id", "Traceparent",
	"Content-Type", "Server", "Via", "Cf-Ray", "Date", "Content-Length", "Content-Encoding", "X-Cache", "X-Amz-Cf-Id", "X-Ms-Region", "X-Served-By",
	"Openai-Version", "Openai-Processing-Ms", "X-Envoy-Upstream-Service-Time", "Server-Timing",
	"Anthropic-Ratelimit-Unified-Status", "Anthropic-Ratelimit-Unified-Reset",
	"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset",
	"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset",
	"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset",
	"Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset",
	"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests",
	"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens",
	"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Ratelimit", "Ratelimit-Policy", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset",
}

// tellHeaders tells whoever asked with which headers the request went out, and which came back.
func (t *exchange) tellHeaders() {
	if t.ask.OnHeaders == nil || !t.connected.Load() { // nothing was sent
		return
	}
	var told llm.Headers
	sent := t.ask.Header.Clone()
	if sent == nil {
		sent = http.Header{}
	}
	sent.Set("Content-Length", strconv.Itoa(len(t.ask.Body)))
	told.Sent, told.SentMore = t.secrets.tell(sent, sentPlain, sentHidden)
	told.Received, told.ReceivedMore = t.secrets.tell(t.header, received, nil)
	t.ask.OnHeaders(told)
}

// tell gives the plain headers of h and the names of the hidden ones, as far as there is room, and
// how many others there are.
func (s *Secrets) tell(h http.Header, plain, hidden []string) (list []llm.Header, more int) {
	room := maxHeaders
	for i, name := range slices.Concat(plain, hidden) {
		values, ok := h[name]
		if !ok {
			continue
		}
		one := llm.Header{Name: name}
		if i < len(plain) {
			one.Value = s.shown(values)
		}
		if room -= len(one.Name) + len(one.Value); room < 0 {
			break
		}
		list = append(list, one)
	}
	return list, len(h) - len(list)
}

// shown is a header's value without secrets, in one short line; "" if it is too long to be searched.
func (s *Secrets) shown(values []string) string {
	value := strings.Join(values, ", ")
	if len(value) > maxHeaderRead {
		return ""
	}
	return words.Clip(words.Tidy(s.Text(value)), maxHeaderValue)
}
