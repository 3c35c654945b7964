package server

import (
	"context"
	"log/slog"
	"sync"

	"github.com/mulligan-run/mulligan/gateway"
)

// Token checks the digest of a token that a caller shows. An installation's token is a
// gateway.TokenFile; the tokens of those that share a database are a gateway.SharedToken.
type Token interface {
	Holds(digest gateway.Digest) (bool, error)
	Digest() (gateway.Digest, error)
}

// Token is the token that callers send: the state folder's or, if machines share a
// database, that of any of them.
func (srv *Server) Token(ctx context.Context) (Token, error) {
	own, err := gateway.OpenToken(srv.Dir)
	if err != nil {
		return nil, err
	}
	in, shared, err := srv.credentials(ctx)
	if err != nil || !shared {
		return own, err
	}
	return gateway.ShareToken(srv.Dir, own, in)
}

// outspoken is a token that says in the log why it holds for nobody. Callers are told only that theirs
// is wrong, and a file that others can read, or that is too short, would look like another token.
type outspoken struct {
	Token
	log *slog.Logger

	mu   sync.Mutex
	said string
}

// Holds reports whether a digest is the token's.
func (t *outspoken) Holds(d gateway.Digest) (bool, error) {
	ok, err := t.Token.Holds(d)
	if ok || err != nil {
		return ok, err
	}
	why := ""
	if _, err := t.Digest(); err != nil {
		why = err.Error()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if why != t.said && why != "" {
		t.log.Error("the token of this installation is not accepted", "err", why)
	}
	t.said = why
	return false, nil
}

// logins are the logins of the state folder, or of all members that share the
// database.
func (srv *Server) logins(ctx context.Context) (*gateway.Logins, error) {
	in, shared, err := srv.credentials(ctx)
	switch {
	case err != nil:
		return nil, err
	case shared:
		return gateway.ShareLogins(in), nil
	}
	return gateway.OpenLogins(srv.Dir, nil)
}

func (srv *Server) credentials(ctx context.Context) (in gateway.Credentials, shared bool, err error) {
	if err := srv.openShared(ctx); err != nil {
		return nil, false, err
	}
	in, shared = besides[gateway.Credentials](srv.Log)
	return in, shared, nil
}

// RotateToken replaces the installation's token; the old one is invalid at once.
func (srv *Server) RotateToken(ctx context.Context) error {
	if err := gateway.RotateToken(srv.Dir); err != nil {
		return err
	}
	_, err := srv.Token(ctx)
	return err
}

// LoginLink makes a link with a one-time code after the #, which browsers do not send, so that it
// is in no server's log; the page posts it.
func (srv *Server) LoginLink(ctx context.Context, url string) (string, error) {
	token, err := srv.Token(ctx)
	if err != nil {
		return "", err
	}
	digest, err := token.Digest()
	if err != nil {
		return "", err
	}
	logins, err := srv.logins(ctx)
	if err != nil {
		return "", err
	}
	code, err := logins.NewCode(digest)
	return url + "/#code=" + code, err
}
