package faultlab

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// foreign says why a request is refused; "" if it is not. It is refused if it comes from a page of
// another site, in somebody's browser. A lab has no password, so such pages must not reach it,
// neither openly (Origin, Sec-Fetch-Site) nor by a name of their own that resolves to this machine
// (Host).
func foreign(r *http.Request) string {
	if _, tcp := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); tcp && !isLoopback(r.Host) {
		return "the Host header is not localhost or a loopback address"
	}
	if origins := r.Header.Values("Origin"); len(origins) > 0 && !slices.Equal(origins, []string{ownOrigin(r)}) {
		return "web pages of other origins may not ask; use a client outside the browser, or a server of your own"
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return ""
	}
	if r.URL.Path == "/" && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return "" // a link to the lab's page
	}
	return "web pages of other sites may not ask"
}

func ownOrigin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// isLoopback reports whether a Host header, with any port, is a name or an address of this machine
// itself.
func isLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}
