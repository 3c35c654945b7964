package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/proxy"
)

// ofTheAPI are the paths below /v1/ that belong to the gateway.
var ofTheAPI = []string{"runs", "sessions", "suggestions", "kinds", "plugins", "providers", "faultlab", "keys", "aisdk", "agui", "members", "login", "logout", "decide", "outcome"}

// doors sends model calls, and everything else that clients of the providers' APIs ask, to the
// proxy, and all other requests to the gateway. Both have a list of models; the kind of client
// decides which one it gets.
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
