package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

const (
	tokenName  = "token"
	tokenBytes = 32  // random bytes
	minToken   = 43  // their length in base64url
	maxToken   = 512 // so that a wrong file is not read whole
	tokenFresh = 500 * time.Millisecond
)

// Digest is the SHA-256 of a secret, which is stored and compared instead of the
// secret.
type Digest [sha256.Size]byte

// DigestOf is the digest of a secret.
func DigestOf(secret string) Digest { return sha256.Sum256([]byte(secret)) }

// String is the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// TokenFile is the token of an installation: the file "token" in its state folder, which
// only its owner can read (S02). It is safe for concurrent use.
type TokenFile struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	digest Digest
	err    error       // why there is no token at the moment
	file   fs.FileInfo // the one that digest was read from
	read   time.Time
}

// OpenToken opens the token of a state folder, and creates both at first use. It refuses
// a token that is too short or that others can read.
func OpenToken(dir string) (*TokenFile, error) {
	path := filepath.Join(dir, tokenName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := RotateToken(dir); err != nil {
			return nil, err
		}
	}
	reserved.keep()
	t := &TokenFile{path: path, now: time.Now}
	t.refresh()
	return t, t.err
}

// RotateToken replaces the token of a state folder. Running gateways refuse the old one,
// and the sessions that it vouched for, within 1 s.
func RotateToken(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	secret := make([]byte, tokenBytes)
	rand.Read(secret) // it never fails
	token := base64.RawURLEncoding.EncodeToString(secret) + "\n"
	return wholefile.ReplaceDurably(filepath.Join(dir, tokenName), []byte(token), 0o600)
}

// ReadToken returns the token of a state folder, for a client on the same machine. It fails if
// there is none, or if it is too short or others can read it.
func ReadToken(dir string) (string, error) {
	token, _, err := readToken(filepath.Join(dir, tokenName))
	return token, err
}

// Holds reports whether a digest is the token's. It checks the file again if the last check
// was half a second ago; while the file is missing or unfit, no digest is valid. An error
// means that the machine failed to read it, and says nothing about the digest.
func (t *TokenFile) Holds(d Digest) (bool, error) {
	current, err := t.current()
	if ofTheMachine(err) {
		return false, err
	}
	return subtle.ConstantTimeCompare(current[:], d[:]) == 1 && err == nil, nil
}

// Digest is that of the current token.
func (t *TokenFile) Digest() (Digest, error) {
	return t.current()
}

func (t *TokenFile) current() (Digest, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if since := t.now().Sub(t.read); since < 0 || since >= tokenFresh {
		t.refresh()
	}
	if t.err != nil {
		return Digest{}, t.err
	}
	return t.digest, nil
}

// refresh reads the token, unless its file is unchanged. Checking that takes no descriptor,
// so it works when there are none left.
func (t *TokenFile) refresh() {
	t.read = t.now()
	if info, err := os.Stat(t.path); err == nil && t.err == nil && sameFile(info, t.file) {
		return
	}
	var token string
	t.err = reserved.use(func() (err error) {
		token, t.file, err = readToken(t.path)
		return err
	})
	t.digest = DigestOf(token)
}

func sameFile(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// readToken reads a token, and returns its file's info, too; its errors do not quote
// the token.
func readToken(path string) (token string, info fs.FileInfo, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err = f.Stat()
	if err != nil {
		return "", nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return "", nil, fmt.Errorf("others may read the token %s (mode %04o): run chmod 600 on it, or remove it for a new one", path, mode.Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return "", nil, err
	}
	token = strings.TrimSpace(string(data))
	if len(token) < minToken || len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", nil, fmt.Errorf("the token in %s is not one: it has %d to %d printable characters; remove the file for a new one", path, minToken, maxToken)
	}
	return token, info, nil
}
