package gateway

import "net/http"

const (
	// pagePolicy lets the page load only what this gateway serves: no inline script or
	// style, and no picture from another server, because a model's text could name one and
	// so leak what was said.
	pagePolicy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	// apiPolicy is for API answers, in case a browser displays one.
	apiPolicy = "default-src 'none'; frame-ancestors 'none'"
)

// protect sets the headers that every answer has, including refusals (S10, S07: no CORS
// headers).
func (g *Guard) protect(h http.Header, r *http.Request) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if isAPI(r.URL.Path) {
		h.Set("Content-Security-Policy", apiPolicy)
		h.Set("Cache-Control", "no-store")
	}
}
