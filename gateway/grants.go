package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"time"
)

// grants keeps short-lived secrets as digests, so reading the storage reveals none.
type grants interface {
	// add makes a secret that a token vouches for.
	add(token Digest) (secret string, err error)
	// look returns what is known about a secret that has not expired. An error says that it
	// could not be looked up, and nothing about the secret.
	look(secret string) (g grant, ok bool, err error)
	// take is look, but also ends the secret, so that only one caller gets it.
	take(secret string) (g grant, ok bool, err error)
	// drop ends a secret; it may return an error if it is already gone.
	drop(secret string) error
}

// grantFiles keeps secrets in a folder, one file each, named after the digest. Files are created
// and removed atomically, so that all processes of a state folder can share it.
type grantFiles struct {
	dir   string
	chars int           // random bytes in a secret
	life  time.Duration // of a secret
	most  int           // beyond it, those that expire first are removed
	now   func() time.Time
}

// grant is the content of a secret's file.
type grant struct {
	Token   Digest    `json:"token"` // vouched for it
	Expires time.Time `json:"expires"`
}

// MarshalText is the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return errors.New("this is not a digest: its length is wrong")
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// newSecret makes a secret of that many random bytes.
func newSecret(bytes int) string {
	chance := make([]byte, bytes)
	rand.Read(chance) // it never fails
	return base64.RawURLEncoding.EncodeToString(chance)
}

// add implements grants.
func (s grantFiles) add(token Digest) (secret string, err error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	s.tidy(root)
	secret = newSecret(s.chars)
	data, err := json.Marshal(grant{token, s.now().Add(s.life).UTC()})
	if err != nil {
		return "", err
	}
	return secret, root.WriteFile(DigestOf(secret).String(), data, 0o600)
}

// look implements grants. An error means that the machine failed.
func (s grantFiles) look(secret string) (g grant, ok bool, err error) {
	err = reserved.use(func() error {
		root, err := os.OpenRoot(s.dir)
		if err != nil {
			return err
		}
		defer func() { _ = root.Close() }() // only read
		g, err = readGrant(root, DigestOf(secret).String())
		return err
	})
	if ofTheMachine(err) {
		return grant{}, false, err
	}
	return g, err == nil && s.now().Before(g.Expires), nil
}

// take implements grants: whoever removes the file gets the secret.
func (s grantFiles) take(secret string) (g grant, ok bool, err error) {
	if g, ok, err = s.look(secret); !ok || err != nil {
		return grant{}, false, err
	}
	err = s.drop(secret)
	if ofTheMachine(err) {
		return grant{}, false, err
	}
	return g, err == nil, nil
}

// drop implements grants.
func (s grantFiles) drop(secret string) error {
	return reserved.use(func() error {
		root, err := os.OpenRoot(s.dir)
		if err != nil {
			return err
		}
		return errors.Join(root.Remove(DigestOf(secret).String()), root.Close())
	})
}

// tidy removes expired secrets and those beyond the limit. It skips files that it cannot
// read: another process may be writing them.
func (s grantFiles) tidy(root *os.Root) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	type kept struct {
		name    string
		expires time.Time
	}
	var live []kept
	for _, f := range files {
		if g, err := readGrant(root, f.Name()); err == nil {
			live = append(live, kept{f.Name(), g.Expires})
		}
	}
	slices.SortFunc(live, func(a, b kept) int { return a.expires.Compare(b.expires) })
	for i, k := range live {
		if !s.now().Before(k.expires) || len(live)-i >= s.most {
			_ = root.Remove(k.name) // another process may have been faster
		}
	}
}

func readGrant(root *os.Root, name string) (g grant, err error) {
	data, err := root.ReadFile(name)
	if err != nil {
		return grant{}, err
	}
	err = json.Unmarshal(data, &g)
	return g, err
}
