package proxy

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// ownToken is the header for the proxy's token if a caller sends a credential of its own where
// clients send their key.
const ownToken = "X-Mulligan-Token"

// tokenOf is the token that the caller sends.
func tokenOf(h http.Header) string {
	scheme, bearer, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		bearer = ""
	}
	return cmp.Or(h.Get(ownToken), h.Get("X-Api-Key"), h.Get("X-Goog-Api-Key"), strings.TrimSpace(bearer))
}

// credential is the caller's own credential for the first of a route's models; nil if there is
// none, or the route does not allow it. Only a caller that sends the token elsewhere has one.
func (c *Config) credential(route Route, models []string, d *dialect, h http.Header) *llm.Credential {
	if !route.CallersKey || h.Get(ownToken) == "" || len(models) == 0 || !c.sameAPI(models[0], d) {
		return nil
	}
	own := &llm.Credential{Header: map[string][]string{}}
	own.Provider, _, _ = strings.Cut(models[0], "/")
	// Who sets both sends the token as the key, too.
	isToken := func(value string) bool { return strings.Contains(value, h.Get(ownToken)) }
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		if values := h.Values(name); len(values) > 0 && !slices.ContainsFunc(values, isToken) {
			own.Header[name] = values
		}
	}
	if len(own.Header) == 0 {
		return nil
	}
	return own
}
