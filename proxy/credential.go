package proxy

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// ownToken is where callers show the proxy's token that send a credential of their own where
// clients send their key.
const ownToken = "X-Mulligan-Token"

// tokenOf is what the caller shows as the proxy's token.
func tokenOf(h http.Header) string {
	scheme, bearer, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		bearer = ""
	}
	return cmp.Or(h.Get(ownToken), h.Get("X-Api-Key"), h.Get("X-Goog-Api-Key"), strings.TrimSpace(bearer))
}

// credential is the caller's own for the first of a route's models, nil where there is none, or
// where the route does not say that it may go there. It is known to be the caller's by the
// token, which stands elsewhere then.
func (c *Config) credential(route Route, models []string, d *dialect, h http.Header) *llm.Credential {
	if !route.CallersKey || h.Get(ownToken) == "" || len(models) == 0 || !c.sameAPI(models[0], d) {
		return nil
	}
	own := &llm.Credential{Header: map[string][]string{}}
	own.Provider, _, _ = strings.Cut(models[0], "/")
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		if values := h.Values(name); len(values) > 0 {
			own.Header[name] = values
		}
	}
	if len(own.Header) == 0 {
		return nil
	}
	return own
}
