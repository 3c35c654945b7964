package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// lock is mulligan.lock: which plugins may run, and what they were granted.
type lock struct {
	Version int                  `yaml:"version"`
	Plugins map[string]lockEntry `yaml:"plugins"`

	path string
}

// lockEntry is a plugin that was pinned, or granted something, or both.
type lockEntry struct {
	SHA256     string            `yaml:"sha256"`     // of its whole folder; "" = not pinned
	Files      int               `yaml:"files"`      // in its folder
	Env        []string          `yaml:"env"`        // variables that it is granted
	Transcript string            `yaml:"transcript"` // messages, if it is granted them
	Contents   map[string]string `yaml:"contents"`   // see contents; nil = too many files to list
}

const (
	lockName    = "mulligan.lock"
	lockVersion = 1
	lockHeader  = `# Which plugins may run, and what they may have. Written by "mulligan plugin pin"
# and "mulligan plugin grant"; keep it beside mulligan.yaml, in version control.
# A plugin whose folder is not what was pinned does not run.
`
)

var (
	sha256Hex  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	contentHex = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// lockPath is beside the config or, where there is none, here.
func (c *config) lockPath() string { return filepath.Join(filepath.Dir(c.path), lockName) }

// readLock reads the lock, which is empty where there is none.
func readLock(path string) (*lock, error) {
	source, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &lock{Version: lockVersion, Plugins: map[string]lockEntry{}, path: path}, nil
	}
	if err != nil {
		return nil, usagef("lock: %w", err)
	}
	l, err := parseLock(source)
	if err != nil {
		return nil, usagef("%s: %w", path, err)
	}
	l.path = path
	return l, nil
}

// parseLock reads a lock strictly: what it does not know it does not pass over.
func parseLock(source []byte) (*lock, error) {
	l := &lock{}
	if err := readStrictly(source, l); err != nil {
		return nil, err
	}
	if l.Plugins == nil {
		l.Plugins = map[string]lockEntry{}
	}
	return l, nil
}

func (l *lock) problem() *problem {
	if l.Version != lockVersion {
		return problemf("$.version", "%d is not a version that this program knows; it knows %d", l.Version, lockVersion)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Plugins)) {
		at := "$.plugins." + quotePath(name)
		if !entryName.MatchString(name) {
			return problemf(at, "%q is no name of a plugin", name)
		}
		if p := l.Plugins[name].problem(at); p != nil {
			return p
		}
	}
	return nil
}

func (e lockEntry) problem(at string) *problem {
	if e.SHA256 != "" && !sha256Hex.MatchString(e.SHA256) {
		return problemf(at+".sha256", "it is not 64 hex digits")
	}
	if e.Files < 0 {
		return problemf(at+".files", "%d is negative", e.Files)
	}
	for i, name := range e.Env {
		if !envName.MatchString(name) {
			return problemf(fmt.Sprintf("%s.env[%d]", at, i), "%q is no name of a variable", name)
		}
	}
	if p := checkTranscript(at+".transcript", e.Transcript); p != nil {
		return p
	}
	for name, sum := range e.Contents {
		if !filepath.IsLocal(name) || !contentHex.MatchString(sum) {
			return problemf(at+".contents", "%q: %q is not a file and 16 hex digits", name, sum)
		}
	}
	return nil
}

// text is the lock as it is written: sorted, the same for the same content.
func (l *lock) text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%sversion: %d\n", lockHeader, lockVersion)
	if len(l.Plugins) == 0 {
		return []byte(b.String())
	}
	b.WriteString("plugins:\n")
	for _, name := range slices.Sorted(maps.Keys(l.Plugins)) {
		e := l.Plugins[name]
		fmt.Fprintf(&b, "  %q:\n", name)
		if len(e.Env) > 0 {
			fmt.Fprintf(&b, "    env: [\"%s\"]\n", strings.Join(e.Env, `", "`))
		}
		if e.Transcript != "" {
			fmt.Fprintf(&b, "    transcript: %s\n", e.Transcript)
		}
		if e.SHA256 != "" {
			fmt.Fprintf(&b, "    sha256: %q\n    files: %d\n", e.SHA256, e.Files)
		}
		if len(e.Contents) > 0 {
			b.WriteString("    contents:\n")
		}
		for _, file := range slices.Sorted(maps.Keys(e.Contents)) {
			fmt.Fprintf(&b, "      %s: %q\n", strconv.QuoteToASCII(file), e.Contents[file])
		}
	}
	return []byte(b.String())
}

// write replaces the file, if it says something else now.
func (l *lock) write() error {
	text := l.text()
	if there, err := os.ReadFile(l.path); err == nil && string(there) == string(text) {
		return nil
	}
	next, err := os.CreateTemp(filepath.Dir(l.path), lockName+"-*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	err = errors.Join(err, next.Chmod(0o644), next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), l.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
