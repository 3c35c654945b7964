package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// between are headers between two neighbours alone.
var between = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Http2-Settings",
}

// hops are those that a message has: the usual ones, and those that Connection names.
func hops(h http.Header) []string {
	list := slices.Clone(between)
	for _, value := range h.Values("Connection") {
		for name := range strings.SplitSeq(value, ",") {
			list = append(list, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	return list
}

// headersUp are a caller's headers that a provider gets: not what is said to the proxy, or of the
// way to it. Adapters keep back credentials.
func headersUp(h http.Header) http.Header {
	out, hop := http.Header{}, hops(h)
	for name, values := range h {
		if passesUp(name) && !slices.Contains(hop, name) {
			out[name] = slices.Clone(values)
		}
	}
	return out
}

// passesUp reports whether a provider gets a caller's header.
func passesUp(name string) bool {
	for _, prefix := range []string{"X-Mulligan-", "X-Forwarded-", "Forwarded", "Sec-", "Origin", "Referer", "Via"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return true
}

// kept are the headers of a provider that its caller does not get, beside those between
// neighbours: what would be ours to say.
var kept = []string{
	"Content-Length", "Content-Encoding", "Set-Cookie", "Date", "Alt-Svc", "Strict-Transport-Security",
	"X-Mulligan-Run", "X-Mulligan-Attempts", "X-Mulligan-Model", "X-Should-Retry",
}

// passHeaders copies what a caller may see of a provider's headers.
func passHeaders(to, from http.Header) {
	hop := hops(from)
	for name, values := range from {
		name = http.CanonicalHeaderKey(name)
		if !slices.Contains(kept, name) && !slices.Contains(hop, name) && !strings.HasPrefix(name, "Access-Control-") {
			to[name] = slices.Clone(values)
		}
	}
}
