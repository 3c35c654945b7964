package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// between are hop-by-hop headers.
var between = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Http2-Settings",
}

// hops are a message's hop-by-hop headers: the usual ones, and those that Connection names.
func hops(h http.Header) []string {
	list := slices.Clone(between)
	for _, value := range h.Values("Connection") {
		for name := range strings.SplitSeq(value, ",") {
			list = append(list, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	return list
}

// headersUp are the headers of a caller that a provider gets: not those for the proxy or about
// the connection. Adapters remove credentials.
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

// kept are a provider's headers that the caller does not get, in addition to hop-by-hop ones: the
// proxy sets them itself.
var kept = []string{
	"Content-Length", "Content-Encoding", "Set-Cookie", "Date", "Alt-Svc", "Strict-Transport-Security",
	"X-Mulligan-Run", "X-Mulligan-Attempts", "X-Mulligan-Model", "X-Should-Retry",
}

// passHeaders copies those of a provider's headers that a caller may see.
func passHeaders(to, from http.Header) {
	hop := hops(from)
	for name, values := range from {
		name = http.CanonicalHeaderKey(name)
		if !slices.Contains(kept, name) && !slices.Contains(hop, name) && !strings.HasPrefix(name, "Access-Control-") {
			to[name] = slices.Clone(values)
		}
	}
}
