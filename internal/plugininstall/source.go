package plugininstall

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
)

// Kind is where a plugin comes from.
type Kind string

// The kinds of sources.
const (
	KindFolder  Kind = "folder"  // on this machine; it is copied unchanged
	KindPyPI    Kind = "pypi"    // a package of Python's
	KindNPM     Kind = "npm"     // a package of Node's
	KindGo      Kind = "go"      // a module, or a package within one
	KindCargo   Kind = "cargo"   // a crate
	KindArchive Kind = "archive" // a folder as .tar.gz or .zip, by https
)

// Source is where a plugin comes from, as a person named it.
type Source struct {
	Kind    Kind
	Name    string // of the package; the folder's absolute path; the archive's address
	Version string // "" = the newest
	SHA256  string // of an archive, as the person knows it; "" = not known
}

// Sources says what kinds of sources there are, for people.
const Sources = "pypi:NAME, npm:NAME, go:MODULE, cargo:NAME (each with @VERSION, if you like), ./FOLDER or https://…"

// packageNames are what each registry takes as a name. None begins with "-", so that none is
// taken for a flag.
var packageNames = map[Kind]*regexp.Regexp{
	KindPyPI:  regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$`),
	KindNPM:   regexp.MustCompile(`^(@[a-z0-9~][a-z0-9._~-]{0,100}/)?[a-z0-9~][a-z0-9._~-]{0,100}$`),
	KindGo:    regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]*\.[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)+$`),
	KindCargo: regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`),
}

var (
	versionWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,99}$`)
	sha256Word  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

const maxSource = 1000 // bytes

// ParseSource reads a source as a person typed it. A folder's path becomes absolute.
func ParseSource(text string) (Source, error) {
	if len(text) > maxSource {
		return Source{}, exit.Usagef("the source has more than %d bytes", maxSource)
	}
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return parseArchive(text)
	}
	if isPath(text) {
		path, err := filepath.Abs(text)
		return Source{Kind: KindFolder, Name: path}, err
	}
	word, rest, ok := strings.Cut(text, ":")
	names := packageNames[Kind(word)]
	if !ok || names == nil {
		return Source{}, exit.Usagef("%q is not a place that plugins come from: write %s", text, Sources)
	}
	s := Source{Kind: Kind(word), Name: rest}
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		s.Name, s.Version = rest[:at], rest[at+1:]
		if !versionWord.MatchString(s.Version) {
			return Source{}, exit.Usagef("%q is not a version", s.Version)
		}
	}
	if !names.MatchString(s.Name) {
		return Source{}, exit.Usagef("%q is not a name that %s has", s.Name, s.Kind)
	}
	return s, nil
}

// Look says what is wrong with the source as far as it can be known without fetching anything: a folder
// that is none, or no plugin's.
func (s Source) Look() (err error) {
	if s.Kind == KindFolder {
		_, err = pluginFolder(s.Name)
	}
	return err
}

func isPath(text string) bool {
	return text == "." || text == ".." || filepath.IsAbs(text) || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
}

func parseArchive(text string) (Source, error) {
	at, err := url.Parse(text)
	switch {
	case err != nil || at.Host == "":
		return Source{}, exit.Usagef("this is not an address, which begins with https:// and a host")
	case at.Scheme != "https":
		return Source{}, exit.Usagef("a plugin is fetched by https only: anybody on the way could replace it")
	case at.User != nil:
		return Source{}, exit.Usagef("an address with a password in it would be written into files: leave the password out")
	}
	s := Source{Kind: KindArchive}
	if at.Fragment != "" {
		sum, isSum := strings.CutPrefix(at.Fragment, "sha256=")
		if !isSum || !sha256Word.MatchString(sum) {
			return Source{}, exit.Usagef("what follows # is sha256= and 64 hex digits")
		}
		s.SHA256, at.Fragment = sum, ""
	}
	s.Name = at.String()
	return s, nil
}

// String is the source as it can be typed, without its version.
func (s Source) String() string {
	switch s.Kind {
	case KindFolder, KindArchive:
		return s.Name
	case KindPyPI, KindNPM, KindGo, KindCargo:
	}
	return string(s.Kind) + ":" + s.Name
}

// at is the source with its version, or with newest if it has none.
func (s Source) at(mark, newest string) string {
	version := cmp.Or(s.Version, newest)
	if version == "" {
		return s.Name
	}
	return s.Name + mark + version
}

// runsCode says what code of the package runs before anybody can see what it asks for; "" = none.
func (s Source) runsCode() string {
	if s.Kind == KindCargo {
		return fmt.Sprintf("Compiling %s runs build scripts of that crate and of all that it depends on, as you.", s)
	}
	return ""
}

// nameOf derives a plugin's name from its package's.
func nameOf(s Source) string {
	name := s.Name
	if s.Kind == KindGo {
		name = majorVersion.ReplaceAllString(name, "")
	}
	return config.NameOfProgram(name)
}

// majorVersion is the end of a Go module's path from its second major version on.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)
