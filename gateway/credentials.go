package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// Credentials is where the gateways of several machines keep their callers' credentials, as
// digests: a caller known to one gateway is known to all, whichever a load balancer chooses. Only
// its clock decides what has expired. It is safe for concurrent use.
type Credentials interface {
	// Grant stores a secret of a kind, which expires after life and which a token vouches for.
	// If there are more than most of that kind, those that expire first are removed.
	Grant(ctx context.Context, kind string, secret, token [32]byte, life time.Duration, most int) error
	// Granted returns the token that vouched for a valid secret. With take it also ends the
	// secret, so that only one caller gets it.
	Granted(ctx context.Context, kind string, secret [32]byte, take bool) (token [32]byte, ok bool, err error)
	// Revoke ends a secret, if it is valid.
	Revoke(ctx context.Context, kind string, secret [32]byte) error
	// HoldToken replaces an installation's token with this one, which expires after life.
	HoldToken(ctx context.Context, installation string, token [32]byte, life time.Duration) error
	// Tokens returns the valid tokens of all installations.
	Tokens(ctx context.Context) ([][32]byte, error)
}

const (
	credentialsPatience = 5 * time.Second
	// tokenLife is how long others accept the token of an installation that is gone: as long as
	// a session that it vouched for.
	tokenLife        = sessionLife
	tellTokenEvery   = time.Hour
	installationName = "installation"
	maxInstallation  = 64
)

// unanswered is an error of the store, which says nothing about the credentials.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

func notAnswered(err error) error {
	if err == nil {
		return nil
	}
	return unanswered{err}
}

// sharedGrants keeps secrets of one kind in a store.
type sharedGrants struct {
	in    Credentials
	kind  string
	chars int
	life  time.Duration
	most  int
}

// add implements grants.
func (s sharedGrants) add(token Digest) (secret string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), credentialsPatience)
	defer cancel()
	secret = newSecret(s.chars)
	return secret, notAnswered(s.in.Grant(ctx, s.kind, DigestOf(secret), token, s.life, s.most))
}

// look implements grants.
func (s sharedGrants) look(secret string) (grant, bool, error) { return s.get(secret, false) }

// take implements grants.
func (s sharedGrants) take(secret string) (grant, bool, error) { return s.get(secret, true) }

func (s sharedGrants) get(secret string, take bool) (grant, bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), credentialsPatience)
	defer cancel()
	token, ok, err := s.in.Granted(ctx, s.kind, DigestOf(secret), take)
	return grant{Token: token}, ok && err == nil, notAnswered(err)
}

// drop implements grants.
func (s sharedGrants) drop(secret string) error {
	ctx, cancel := context.WithTimeout(context.Background(), credentialsPatience)
	defer cancel()
	return notAnswered(s.in.Revoke(ctx, s.kind, DigestOf(secret)))
}

// SharedToken is the token of an installation together with those of the others that share its
// Credentials; any of them is accepted. It is safe for concurrent use.
type SharedToken struct {
	own          *TokenFile
	in           Credentials
	installation string

	mu     sync.Mutex
	told   Digest // the one that the others know
	toldAt time.Time
	others [][32]byte
	err    error
	read   time.Time
}

// ShareToken makes the other installations accept the token of this state folder, and this
// one theirs.
func ShareToken(dir string, own *TokenFile, in Credentials) (*SharedToken, error) {
	id, err := installation(dir)
	if err != nil {
		return nil, err
	}
	t := &SharedToken{own: own, in: in, installation: id}
	return t, t.tell()
}

// installation is the id of a state folder, created at first use.
func installation(dir string) (string, error) {
	path := filepath.Join(dir, installationName)
	id, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id = []byte(rand.Text())
		err = wholefile.ReplaceDurably(path, id, 0o600)
	}
	if err == nil && (len(id) == 0 || len(id) > maxInstallation) {
		err = errors.New("what is in " + path + " is not an id: remove the file, and a new one is made")
	}
	return string(id), err
}

// Digest is that of the installation's own token.
func (t *SharedToken) Digest() (Digest, error) { return t.own.Digest() }

// Holds reports whether a digest is that of a valid token. An error says that the machine could
// not look it up.
func (t *SharedToken) Holds(d Digest) (bool, error) {
	if own, err := t.own.Holds(d); own || err != nil {
		if own {
			_ = t.tell() // a failure does not matter: the own token is accepted anyway
		}
		return own, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.read) >= tokenFresh {
		ctx, cancel := context.WithTimeout(context.Background(), credentialsPatience)
		defer cancel()
		t.others, t.err = t.in.Tokens(ctx)
		t.read = time.Now()
	}
	own, err := t.own.Digest()
	if err != nil || own != t.told { // what the others know about this installation is outdated
		t.forget()
	}
	same := 0
	for i := range t.others {
		same |= subtle.ConstantTimeCompare(t.others[i][:], d[:])
	}
	return same == 1, notAnswered(t.err)
}

// forget drops the own token that the others still know, although it has been replaced.
func (t *SharedToken) forget() {
	for i := range t.others {
		if t.others[i] == t.told {
			t.others[i] = [32]byte{}
		}
	}
}

// tell tells the others the current token, once an hour, since they drop tokens of installations
// that are gone.
func (t *SharedToken) tell() error {
	own, err := t.own.Digest()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if own == t.told && time.Since(t.toldAt) < tellTokenEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), credentialsPatience)
	defer cancel()
	if err := t.in.HoldToken(ctx, t.installation, own, tokenLife); err != nil {
		return notAnswered(err)
	}
	t.told, t.toldAt = own, time.Now()
	return nil
}
