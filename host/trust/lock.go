package trust

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

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/wholefile"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Lock is mulligan.lock: which plugins may run, and what they were granted.
type Lock struct {
	Version int              `yaml:"version"`
	Plugins map[string]Entry `yaml:"plugins"`

	Path string
}

// Entry is a plugin that was pinned, granted something, or both.
type Entry struct {
	SHA256     string            `yaml:"sha256"`     // of its whole folder; "" = not pinned
	Files      int               `yaml:"files"`      // in its folder
	Env        []string          `yaml:"env"`        // variables that it is granted
	Transcript string            `yaml:"transcript"` // messages, or "" if not granted
	Contents   map[string]string `yaml:"contents"`   // see Contents; nil = too many files to list
}

// LockName is the file's name, beside the config.
const LockName = "mulligan.lock"

const (
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

// ReadLock reads the lock; a missing file is an empty lock.
func ReadLock(path string) (*Lock, error) {
	source, err := yamlfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{Version: lockVersion, Plugins: map[string]Entry{}, Path: path}, nil
	}
	if err != nil {
		return nil, exit.Usagef("lock: %w", err)
	}
	l, err := parseLock(source)
	if err != nil {
		return nil, exit.Usagef("%s: %w", path, err)
	}
	l.Path = path
	return l, nil
}

// parseLock reads a lock strictly: an unknown key is an error.
func parseLock(source []byte) (*Lock, error) {
	l := &Lock{}
	if err := yamlfile.Decode(source, l); err != nil {
		return nil, err
	}
	if l.Plugins == nil {
		l.Plugins = map[string]Entry{}
	}
	return l, nil
}

// Problem finds the first invalid value.
func (l *Lock) Problem() *yamlfile.Problem {
	if l.Version != lockVersion {
		return yamlfile.Problemf("$.version", "%d is not a version that this program knows; it knows %d", l.Version, lockVersion)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Plugins)) {
		at := "$.plugins." + yamlfile.QuotePath(name)
		if !yamlfile.EntryName.MatchString(name) {
			return yamlfile.Problemf(at, "%q is not the name of a plugin", name)
		}
		if p := l.Plugins[name].problem(at); p != nil {
			return p
		}
	}
	return nil
}

func (e Entry) problem(at string) *yamlfile.Problem {
	if e.SHA256 != "" && !sha256Hex.MatchString(e.SHA256) {
		return yamlfile.Problemf(at+".sha256", "it is not 64 hex digits")
	}
	if e.Files < 0 {
		return yamlfile.Problemf(at+".files", "%d is negative", e.Files)
	}
	for i, name := range e.Env {
		if !yamlfile.EnvName.MatchString(name) {
			return yamlfile.Problemf(fmt.Sprintf("%s.env[%d]", at, i), "%q is not the name of a variable", name)
		}
	}
	if p := CheckTranscript(at+".transcript", e.Transcript); p != nil {
		return p
	}
	for name, sum := range e.Contents {
		if !filepath.IsLocal(name) || !contentHex.MatchString(sum) {
			return yamlfile.Problemf(at+".contents", "%q: %q is not a file and 16 hex digits", name, sum)
		}
	}
	return nil
}

// text is the lock as it is written: sorted, so that equal content gives equal text.
func (l *Lock) text() []byte {
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

// Write replaces the file if its content would change.
func (l *Lock) Write() error {
	text := l.text()
	if there, err := os.ReadFile(l.Path); err == nil && string(there) == string(text) {
		return nil
	}
	return wholefile.ReplaceDurably(l.Path, text, 0o644)
}

// Set writes the lock with that entry. An entry that pins and grants nothing is
// removed.
func (l *Lock) Set(name string, e Entry) error {
	l.Plugins[name] = e
	if e.SHA256 == "" && len(e.Env) == 0 && e.Transcript == "" {
		delete(l.Plugins, name)
	}
	return l.Write()
}
