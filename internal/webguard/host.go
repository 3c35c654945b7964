package webguard

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// OwnHosts are the values of Host that match the connection, in lower case.
func OwnHosts(r *http.Request, tls bool) []string {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return []string{"localhost"} // a unix socket, which browsers cannot reach
	}
	names := []string{local.IP.String()}
	if local.IP.IsLoopback() {
		names = append(names, "localhost", "127.0.0.1", "::1")
	}
	usual := 80
	if tls {
		usual = 443
	}
	var hosts []string
	for _, name := range names {
		hosts = append(hosts, net.JoinHostPort(name, strconv.Itoa(local.Port)))
		if local.Port == usual {
			hosts = append(hosts, strings.TrimSuffix(net.JoinHostPort(name, ""), ":"))
		}
	}
	return hosts
}

// OwnOrigin is the origin of pages that the request's own host serves; Host was checked before.
func OwnOrigin(r *http.Request, tls bool) string {
	if tls {
		return "https://" + strings.ToLower(r.Host)
	}
	return "http://" + strings.ToLower(r.Host)
}

// FromAnotherPage reports whether a script or form on another page made a request that needs no
// page: an Origin, if there is one, must be our own, and if the browser says where the request
// comes from, that must be the same origin.
func FromAnotherPage(r *http.Request, tls bool) bool {
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !strings.EqualFold(origins[0], OwnOrigin(r, tls)) {
		return true
	}
	from := r.Header.Get("Sec-Fetch-Site")
	return from != "" && from != "same-origin" && from != "none"
}
