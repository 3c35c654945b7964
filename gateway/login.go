package gateway

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const (
	loginPath  = "/v1/login"
	logoutPath = "/v1/logout"

	codeLife    = 60 * time.Second
	codeBytes   = 16
	maxCodes    = 64
	sessionLife = 7 * 24 * time.Hour
	maxSessions = 256
)

// Logins lets browsers log in (S03). A token does not belong in a browser. Instead, whoever
// has it makes a one-time code ([Logins.NewCode]). A link carries the code after its #, which
// keeps it out of every log, and the page exchanges it for a session cookie.
//
//	mulligan login     http://127.0.0.1:8484/#code=…
//	the page           POST /v1/login {"code":"…"} → Set-Cookie, 204
//	from then on       the cookie, and X-Mulligan-CSRF: 1 on writes
//	at the end         POST /v1/logout, after 7 days, or when the token is replaced
//
// Codes and sessions are kept as digests in the state folder or, if several machines share
// them, in their store. So a session outlives the gateway, and another process can make a
// code.
type Logins struct{ codes, sessions grants }

// OpenLogins opens the logins of a state folder, and creates their folders. now is the clock; nil
// means the system's.
func OpenLogins(dir string, now func() time.Time) (*Logins, error) {
	if now == nil {
		now = time.Now
	}
	l := &Logins{
		codes:    grantFiles{filepath.Join(dir, "login", "codes"), codeBytes, codeLife, maxCodes, now},
		sessions: grantFiles{filepath.Join(dir, "login", "sessions"), tokenBytes, sessionLife, maxSessions, now},
	}
	for _, name := range []string{"codes", "sessions"} {
		if err := os.MkdirAll(filepath.Join(dir, "login", name), 0o700); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// ShareLogins opens logins shared by the gateways of several machines: a browser logged in at
// one is logged in at all.
func ShareLogins(with Credentials) *Logins {
	return &Logins{
		codes:    sharedGrants{with, "code", codeBytes, codeLife, maxCodes},
		sessions: sharedGrants{with, "session", tokenBytes, sessionLife, maxSessions},
	}
}

// NewCode makes a code of 128 bits that logs one browser in once, within 60 s, as long
// as the token with this digest is valid.
func (l *Logins) NewCode(token Digest) (string, error) { return l.codes.add(token) }

// session returns the token that vouched for a session.
func (l *Logins) session(id string) (token Digest, ok bool, err error) {
	if l == nil {
		return Digest{}, false, nil
	}
	g, ok, err := l.sessions.look(id)
	return g.Token, ok, err
}

// redeem exchanges a code for a new session.
func (l *Logins) redeem(code string, holds func(Digest) (bool, error)) (id string, err error) {
	g, ok, err := l.codes.take(code)
	if ok {
		ok, err = holds(g.Token)
	}
	if err != nil {
		return "", err
	}
	if !ok {
		return "", errWrongCode
	}
	return l.sessions.add(g.Token)
}

var errWrongCode = errors.New("the code is wrong, was used, or is older than a minute: make a new one with mulligan login")

// loginBody is the body of a login.
type loginBody struct {
	Code string `json:"code" minLength:"1" doc:"The one-time code."`
}

var loginShape = shapeOf[loginBody]()

// login answers POST /v1/login. Wrong codes are counted, but the right one is always accepted, as
// with the token: it has 128 random bits, and otherwise anybody who shares the owner's address
// could lock the owner out.
func (g *Guard) login(w http.ResponseWriter, r *http.Request) {
	id, err := g.redeem(w, r)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	g.setCookie(w, id, sessionLife)
	w.WriteHeader(http.StatusNoContent)
}

func (g *Guard) redeem(w http.ResponseWriter, r *http.Request) (id string, err error) {
	if g.cfg.Logins == nil {
		return "", refusal{code: http.StatusNotFound, why: "this gateway lets no browser log in"}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := g.readBody(w, r); err != nil {
		return "", err
	}
	var body loginBody
	if err := readShape(r, loginShape, &body); err != nil {
		return "", refusal{code: http.StatusUnprocessableEntity, why: `send {"code":"…"}`}
	}
	id, err = g.cfg.Logins.redeem(body.Code, g.cfg.Token)
	if errors.Is(err, errWrongCode) {
		return "", g.failed(g.guesses, r, errWrongCode.Error())
	}
	if ofTheMachine(err) {
		return "", g.cannotTell(err)
	}
	return id, err
}

// maxLogin bounds the body of a login, in bytes, because the sender is not
// authenticated yet.
const maxLogin = 1 << 10

// logout answers POST /v1/logout: the session ends here and in the browser.
func (g *Guard) logout(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		g.refuse(w, r, refusal{code: http.StatusMethodNotAllowed, why: "log out with POST"})
		return
	}
	if id := g.sessionID(r); id != "" {
		_ = g.cfg.Logins.sessions.drop(id) // another tab may have ended it already
	}
	g.setCookie(w, "", -time.Second)
	w.WriteHeader(http.StatusNoContent)
}

// setCookie gives the browser a session, or removes it if life is negative. Scripts
// cannot read the cookie, and pages of other sites do not send it.
func (g *Guard) setCookie(w http.ResponseWriter, id string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: g.cookieName(), Value: id, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: g.cfg.TLS,
	})
}

// cookieName has, with TLS, the prefix that keeps other hosts and plain HTTP from setting the
// cookie.
func (g *Guard) cookieName() string {
	if g.cfg.TLS {
		return "__Host-mulligan"
	}
	return "mulligan"
}

func (g *Guard) sessionID(r *http.Request) string {
	cookie, err := r.Cookie(g.cookieName())
	if err != nil || g.cfg.Logins == nil {
		return ""
	}
	return cookie.Value
}
