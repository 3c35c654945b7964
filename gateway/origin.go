package gateway

import (
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/internal/webguard"
)

// csrfHeader is what our page sets on every write. A page of another origin cannot: a
// custom header needs a preflight, and every preflight is refused.
const csrfHeader = "X-Mulligan-Csrf"

// checkOrigin refuses requests from other pages' scripts or forms (S05, S06), for every
// method and for event streams. An Origin must be the gateway's own or a configured one;
// "null" (a sandboxed frame, a file) is neither. Host was checked before, so the own
// origin is derived from Host. If a browser sends no Origin, Sec-Fetch-Site says where the
// request comes from. Another port of this machine is "same-site" and gets the cookie, so
// it is refused, too.
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

// checkCSRF requires the header on writes that a cookie authenticates. Its value does not
// matter: its presence shows that a script of our own origin sent it. The cookie is also
// SameSite=Strict.
func checkCSRF(r *http.Request, c caller) error {
	if c.session != "" && isWrite(r.Method) && r.Header.Get(csrfHeader) == "" {
		return refusal{code: http.StatusForbidden, why: "a write with a session needs the header X-Mulligan-CSRF: 1"}
	}
	return nil
}

// isWrite reports whether a method may change something.
func isWrite(method string) bool { return method != http.MethodGet && method != http.MethodHead }
