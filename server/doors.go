package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/proxy"
)

// ofTheAPI are the parts below /v1/ that are the gateway's own.
var ofTheAPI = []string{"runs", "sessions", "suggestions", "kinds", "plugins", "faultlab", "members", "login", "logout", "decide", "outcome"}

// doors has the proxy answer model calls, and what else clients of the providers' APIs ask, and
// the gateway everything else. What both have, the list of models, goes to whoever the client
// is one of.
func doors(p *proxy.Proxy, face http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		root, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
		if p.Serves(r) && !slices.Contains(ofTheAPI, root) {
			p.ServeHTTP(w, r)
			return
		}
		face.ServeHTTP(w, r)
	})
}
