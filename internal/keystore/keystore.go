package keystore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// MinKey and MaxKey are how long a key is, in bytes.
const (
	MinKey = 8
	MaxKey = 4096
)

const (
	fileName    = "keys.json"
	fileVersion = 1
	maxFile     = 512 << 10
	maxKeys     = 64
)

// named is the form of an environment variable's name.
var named = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// Store is the keys of one state folder. It is safe for concurrent use.
type Store struct {
	path string
	ring *Keyring // nil = keys are in the file

	mu     sync.Mutex
	keys   map[string]string
	inRing []string    // the names of those that the file only names
	err    error       // why the file, or the keyring, is not used
	file   fs.FileInfo // that keys was read from; nil = there was none
	again  time.Time   // when a keyring that did not answer is asked again
}

// Open makes a Store of a state folder, which keeps keys in a keyring if there is one. Nothing is read or
// written yet.
func Open(dir string, ring *Keyring) *Store {
	return &Store{path: filepath.Join(dir, fileName), ring: ring}
}

// Path is the file with the keys, or with the names of those that are in the keyring.
func (s *Store) Path() string { return s.path }

// Ring is the name for people of the keyring that keys are kept in, "" if they are in the file.
func (s *Store) Ring() string {
	if s.ring == nil {
		return ""
	}
	return s.ring.Name
}

// Place says where the key of a name is, for people.
func (s *Store) Place(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if s.ring != nil && slices.Contains(s.inRing, name) {
		return s.ring.Name
	}
	return s.path
}

// Get returns the key of that name, "" if there is none or if the file is not used: Check says
// why.
func (s *Store) Get(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return s.keys[name]
}

// Names lists the names that have keys, sorted.
func (s *Store) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return slices.Sorted(maps.Keys(s.keys))
}

// Check says why the file is not used, and what to do about it; nil if it is, or if there is none.
func (s *Store) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return s.err
}

// CheckKey says what is wrong with a key that somebody pasted.
func CheckKey(key string) error {
	switch {
	case len(key) < MinKey || len(key) > MaxKey:
		return fmt.Errorf("a key has %d to %d characters, not %d", MinKey, MaxKey, len(key))
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("a key has no spaces and no letters beyond ASCII: copy it once more")
	}
	return nil
}

// Set stores a key under a name and replaces the previous one.
func (s *Store) Set(name, key string) error {
	if !named.MatchString(name) {
		return fmt.Errorf("%.150q is not the name of an environment variable", name)
	}
	if err := CheckKey(key); err != nil {
		return err
	}
	return s.change(func(c *content) error {
		c.drop(name)
		if s.ring != nil && s.ring.keep(name, key) == nil {
			c.Ring = append(c.Ring, name)
		} else { // a locked keyring, or a desktop that has gone, keeps nobody from working
			c.Keys[name] = key
		}
		if len(c.Keys)+len(c.Ring) > maxKeys {
			return fmt.Errorf("%s has %d keys, which is the most: remove one first", s.path, maxKeys)
		}
		return nil
	})
}

// Remove deletes the key of a name, if there is one.
func (s *Store) Remove(name string) error {
	if s.Get(name) == "" && s.Check() == nil {
		return nil
	}
	return s.change(func(c *content) error {
		if s.ring != nil {
			if err := s.ring.forget(name); err != nil && slices.Contains(c.Ring, name) {
				return err
			}
		}
		c.drop(name)
		return nil
	})
}

// change replaces the file, one process at a time. Keys can be read while it waits for another
// process.
func (s *Store) change(how func(c *content) error) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	c, _, err := read(s.path)
	if err != nil {
		return err
	}
	if err := how(&c); err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.ReplaceDurably(s.path, append(text, '\n'), 0o600)
}

// patience is how long another process may take to write the file.
const patience = 5 * time.Second

// lock waits until no other process writes the file, and keeps others from writing.
func (s *Store) lock() (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // which unlocks; nothing was written
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) || time.Since(began) > patience {
			_ = f.Close()
			return nil, fmt.Errorf("another process has %s locked; end it, and try again: %w", s.path, err)
		}
	}
}

// refresh reads the file, unless it is the one that was read before.
func (s *Store) refresh() {
	info, err := os.Lstat(s.path)
	if err == nil && sameFile(info, s.file) && (s.err == nil || time.Now().Before(s.again)) {
		return
	}
	var c content
	c, s.file, s.err = read(s.path)
	s.keys, s.inRing = c.Keys, c.Ring
	if s.err == nil {
		s.err = s.fromRing()
	}
}

// pause is how long a keyring that does not answer is not asked.
const pause = 30 * time.Second

// fromRing adds the keys that are in the keyring.
func (s *Store) fromRing() error {
	for _, name := range s.inRing {
		key, err := "", errors.New("this process has no keyring")
		if s.ring != nil {
			key, err = s.ring.find(name)
		}
		if err != nil {
			s.again = time.Now().Add(pause)
			return fmt.Errorf("the key for %s is in the keyring, which cannot be used here: unlock it, or paste the key again (%w)", name, err)
		}
		if key != "" {
			s.keys[name] = key
		}
	}
	return nil
}

func sameFile(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// content is what the file says.
type content struct {
	Version int               `json:"version"`
	Keys    map[string]string `json:"keys"`
	Ring    []string          `json:"keyring,omitempty"` // the names of keys that are in the keyring
}

// drop leaves the key of a name out.
func (c *content) drop(name string) {
	delete(c.Keys, name)
	c.Ring = slices.DeleteFunc(c.Ring, func(n string) bool { return n == name })
}

// read reads the keys and the file's info; a missing file has no keys. Its errors quote none of the
// content.
func read(path string) (content, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{Version: fileVersion, Keys: map[string]string{}}, nil, nil
	case errors.Is(err, syscall.ELOOP):
		return content{}, nil, fmt.Errorf("%s is a symbolic link, and keys are read from no other place: remove it", path)
	case err != nil:
		return content{}, nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return content{}, nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() {
		return content{}, nil, fmt.Errorf("%s is not a regular file: remove it", path)
	} else if mode.Perm()&0o077 != 0 {
		return content{}, nil, fmt.Errorf("others may read the keys in %s (mode %04o): replace them where they were made, and remove the file", path, mode.Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return content{}, nil, err
	}
	c, ok := parse(data)
	if !ok {
		return content{}, nil, fmt.Errorf("%s is damaged, or was written by a newer version: remove it, and paste the keys again", path)
	}
	return c, info, nil
}

// parse returns a file's content; ok is false if this package did not write it.
func parse(data []byte) (c content, ok bool) {
	if len(data) > maxFile {
		return content{}, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if d.Decode(&c) != nil || c.Version != fileVersion || len(c.Keys)+len(c.Ring) > maxKeys {
		return content{}, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return content{}, false
	}
	for name, key := range c.Keys {
		if !named.MatchString(name) || CheckKey(key) != nil {
			return content{}, false
		}
	}
	for _, name := range c.Ring {
		if !named.MatchString(name) {
			return content{}, false
		}
	}
	if c.Keys == nil {
		c.Keys = map[string]string{}
	}
	return c, true
}
