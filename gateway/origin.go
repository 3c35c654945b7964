package gateway

import (
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/internal/webguard"
)

// csrfHeader is what a page of ours sets on every write. A page of another origin cannot:
// a header of its own needs a preflight, and a preflight is given nothing.
const csrfHeader = "X-Mulligan-Csrf"

// checkOrigin refuses what another page's script or form sent (S05, S06), on every method
// and for the event stream alike: an Origin must be the gateway's own or a configured one,
// and "null" (a sandboxed frame, a file) is neither. Host has been checked before, so the
// own origin is that of Host. Where browsers send no Origin, they say in Sec-Fetch-Site
// where a request comes from; another port of this machine is "same-site", and gets the
// cookie, and is refused as well.
func (g *Guard) checkOrigin(r *http.Request) error {
	refused := refusal{code: http.StatusForbidden, why: "requests of other pages are refused"}
	trusted := false
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		origin := strings.ToLower(origins[0])
		trusted = g.origins[origin]
		if len(origins) > 1 || !trusted && origin != webguard.OwnOrigin(r, g.cfg.TLS) {
			return refused
		}
	}
	if isWrite(r.Method) {
		if err := g.cross.Check(r); err != nil {
			return refused
		}
		return nil
	}
	from := r.Header.Get("Sec-Fetch-Site")
	if isAPI(r.URL.Path) && !trusted && from != "" && from != "same-origin" && from != "none" {
		return refused
	}
	return nil
}

// checkCSRF demands the header of a write that a cookie vouches for. Any value will do:
// that it is there at all says that a script of our own origin sent it, and the cookie is
// SameSite=Strict besides.
func checkCSRF(r *http.Request, c caller) error {
	if c.session != "" && isWrite(r.Method) && r.Header.Get(csrfHeader) == "" {
		return refusal{code: http.StatusForbidden, why: "a write with a session needs the header X-Mulligan-CSRF: 1"}
	}
	return nil
}

// isWrite reports whether a method may change something.
func isWrite(method string) bool { return method != http.MethodGet && method != http.MethodHead }
