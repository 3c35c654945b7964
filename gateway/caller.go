package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/internal/webguard"
)

// caller is who makes a request: a token, or a browser's session that a token vouched for.
type caller struct {
	token   Digest
	session string // the session's id; "" = the request has the token itself
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// ownKey binds an idempotency key to the token of the request (S35): the same key with
// another token is another key. Without a Guard the key is unchanged.
func ownKey(ctx context.Context, key string) string {
	c, ok := ctx.Value(callerKey{}).(caller)
	if !ok || key == "" {
		return key
	}
	sum := sha256.Sum256(append(c.token[:], key...))
	return hex.EncodeToString(sum[:])
}

// caller identifies who makes a request, or refuses it. A request with a token is judged
// by the token; only one without is checked for a session. Sending neither does not count
// as a failure, because the page does so before login.
//
// Correct credentials are accepted even from an address that failed too often: nobody
// guesses 256 random bits, and otherwise a forgotten program with an old token, or
// another user of this machine, could lock the owner out.
func (g *Guard) caller(r *http.Request) (caller, error) {
	given := r.Header.Values("Authorization")
	if id := g.sessionID(r); len(given) == 0 && id == "" {
		return caller{}, refusal{code: http.StatusUnauthorized, why: "show the token (Authorization: Bearer …), or log in with the link of mulligan login"}
	} else if len(given) == 0 {
		return g.known(r, caller{session: id}, "the session has ended: log in with the link of mulligan login")
	}
	wrong := "the token is wrong, or it was replaced"
	scheme, token, _ := strings.Cut(given[0], " ")
	if len(given) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return caller{}, g.failed(g.strangers, r, wrong)
	}
	return g.known(r, caller{token: DigestOf(token)}, wrong)
}

// known refuses a caller whose credentials are not valid, or no longer.
func (g *Guard) known(r *http.Request, c caller, otherwise string) (caller, error) {
	c, ok, err := g.holds(c)
	if err != nil {
		return caller{}, g.cannotTell(err)
	}
	if !ok {
		return caller{}, g.failed(g.strangers, r, otherwise)
	}
	return c, nil
}

// holds reports whether a caller is known, and returns a session's caller with the token
// that vouched for it. An error means that the machine could not look it up, and says
// nothing about the caller.
func (g *Guard) holds(c caller) (_ caller, ok bool, err error) {
	if c.session != "" {
		if c.token, ok, err = g.cfg.Logins.session(c.session); !ok || err != nil {
			return c, false, err
		}
	}
	ok, err = g.cfg.Token(c.token)
	return c, ok, err
}

// cannotTell is the answer when the machine fails to look credentials up. It says nothing
// about them.
func (g *Guard) cannotTell(err error) error {
	g.cfg.Logger.Error("it cannot be looked up who asks", "err", err)
	return refusal{
		code: http.StatusServiceUnavailable, after: soon,
		why: "this machine cannot look up now who asks (" + cause(err) + "): try again in a moment",
	}
}

// failed counts a failure and returns the answer to it; it logs the first ones.
func (g *Guard) failed(count *webguard.Failures, r *http.Request, why string) error {
	n, tooMany, left := count.Add(r.RemoteAddr, g.cfg.Now())
	if tooMany {
		return refusal{code: http.StatusTooManyRequests, why: why + "; there were too many such failures, which is not looked at again before the minute is over", after: left}
	}
	g.cfg.Logger.Warn("somebody could not be let in", "from", r.RemoteAddr, "why", why, "failures", n)
	return refusal{code: http.StatusUnauthorized, why: why}
}
