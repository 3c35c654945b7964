package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// caller is who makes a request: a token, or a browser's session that a token vouched for.
type caller struct {
	token   Digest
	session bool
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// ownKey binds an idempotency key to the token of the request (S35): the same key under
// another token is another key. Without a Guard it is the key itself.
func ownKey(ctx context.Context, key string) string {
	c, ok := ctx.Value(callerKey{}).(caller)
	if !ok || key == "" {
		return key
	}
	sum := sha256.Sum256(append(c.token[:], key...))
	return hex.EncodeToString(sum[:])
}

// caller tells who makes a request, or refuses it. Whoever shows a token is held to it; a
// session is only looked for without one. To show nothing is no failure to count: a page
// that is not logged in yet asks so.
//
// The right credentials are taken from an address that failed too often as well: they
// are 256 bits of chance, which nobody guesses, and else a forgotten program with an old
// token, or another user of this machine, could lock its owner out.
func (g *Guard) caller(r *http.Request) (caller, error) {
	if given := r.Header.Values("Authorization"); len(given) > 0 {
		scheme, token, _ := strings.Cut(given[0], " ")
		digest := DigestOf(token)
		if len(given) == 1 && strings.EqualFold(scheme, "Bearer") && g.cfg.Token(digest) {
			return caller{token: digest}, nil
		}
		return caller{}, g.failed(g.strangers, r, "the token is wrong, or it was replaced")
	}
	id := g.sessionID(r)
	if id == "" {
		return caller{}, refusal{http.StatusUnauthorized, "show the token (Authorization: Bearer …), or log in with the link of mulligan login"}
	}
	if token, ok := g.cfg.Logins.session(id); ok && g.cfg.Token(token) {
		return caller{token: token, session: true}, nil
	}
	return caller{}, g.failed(g.strangers, r, "the session has ended: log in with the link of mulligan login")
}

// failed counts a failure and gives the answer to it; the first ones are logged.
func (g *Guard) failed(count *failures, r *http.Request, why string) error {
	n, tooMany := count.add(r.RemoteAddr, g.cfg.Now())
	if tooMany {
		return refusal{http.StatusTooManyRequests, "too many failures: wait a minute"}
	}
	g.cfg.Logger.Warn("somebody could not be let in", "from", r.RemoteAddr, "why", why, "failures", n)
	return refusal{http.StatusUnauthorized, why}
}
