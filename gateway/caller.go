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
	session string // its id; "" = it is the token itself that was shown
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

// known refuses a caller who is not, or not any more.
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

// holds reports whether a caller is known now, and gives a session's the token that vouched
// for it. An error is the machine's, and says nothing about the caller.
func (g *Guard) holds(c caller) (_ caller, ok bool, err error) {
	if c.session != "" {
		if c.token, ok, err = g.cfg.Logins.session(c.session); !ok || err != nil {
			return c, false, err
		}
	}
	ok, err = g.cfg.Token(c.token)
	return c, ok, err
}

// cannotTell is the answer where the machine fails to look credentials up: not one about them.
func (g *Guard) cannotTell(err error) error {
	g.cfg.Logger.Error("it cannot be looked up who asks", "err", err)
	return refusal{
		code: http.StatusServiceUnavailable, after: soon,
		why: "this machine cannot look up now who asks (" + cause(err) + "): try again in a moment",
	}
}

// failed counts a failure and gives the answer to it; the first ones are logged.
func (g *Guard) failed(count *webguard.Failures, r *http.Request, why string) error {
	n, tooMany, left := count.Add(r.RemoteAddr, g.cfg.Now())
	if tooMany {
		return refusal{code: http.StatusTooManyRequests, why: why + "; there were too many such failures, which is not looked at again before the minute is over", after: left}
	}
	g.cfg.Logger.Warn("somebody could not be let in", "from", r.RemoteAddr, "why", why, "failures", n)
	return refusal{code: http.StatusUnauthorized, why: why}
}
