package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Manifest is mulligan-plugin.yaml, in which a plugin asks for what it needs. It is
// the plugin's claim and grants nothing.
type Manifest struct {
	Name        string   `yaml:"name"`
	Version     version  `yaml:"version"`
	Description string   `yaml:"description"`
	Command     []string `yaml:"command"`    // starts it, in its folder: "plugin install" of the folder writes it into the config
	Occasions   []string `yaml:"occasions"`  // that it wants to be asked about; run_error only by default
	Env         []string `yaml:"env"`        // names of variables
	Transcript  string   `yaml:"transcript"` // none, or messages: the transcript of the runs that it is asked about
}

// version is a version as it is written: to YAML, 1.10 without quotes is the number 1.1.
type version string

// UnmarshalYAML also accepts the text of a number.
func (v *version) UnmarshalYAML(source []byte) error {
	text := strings.TrimSpace(string(source))
	if number.MatchString(text) {
		*v = version(text)
		return nil
	}
	return yaml.Unmarshal(source, (*string)(v))
}

var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// What a plugin may see of a run's transcript.
const (
	transcriptNone     = "none"
	TranscriptMessages = "messages"
)

// CheckTranscript checks a transcript setting; at is its path in the file.
func CheckTranscript(at, word string) *yamlfile.Problem {
	switch word {
	case "", transcriptNone, TranscriptMessages:
		return nil
	}
	return yamlfile.Problemf(at, "%q: write messages, or none", word)
}

// ManifestName is the file's name, at the top of the plugin's folder.
const ManifestName = "mulligan-plugin.yaml"

const (
	maxManifest    = 64 << 10 // bytes
	maxDescription = 500      // bytes
	maxVersion     = 100      // bytes
	maxAsked       = 64       // number of variables, of occasions and of words in a command
)

// ReadManifest reads the manifest in a plugin's folder; if there is none, it is empty.
func ReadManifest(folder string) (Manifest, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(ManifestName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, nil
	}
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return Manifest{}, errors.Join(err, fmt.Errorf("%s is not a regular file", ManifestName))
	}
	source, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return Manifest{}, err
	}
	if len(source) > maxManifest {
		return Manifest{}, fmt.Errorf("%s is larger than %d bytes", ManifestName, maxManifest)
	}
	m, err := parseManifest(source)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", ManifestName, err)
	}
	return m, nil
}

// parseManifest reads a manifest strictly.
func parseManifest(source []byte) (Manifest, error) {
	var m Manifest
	if err := yamlfile.Decode(source, &m); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// Problem finds the first invalid value.
func (m Manifest) Problem() *yamlfile.Problem {
	switch {
	case m.Name != "" && !yamlfile.EntryName.MatchString(m.Name):
		return yamlfile.Problemf("$.name", "%q is not the name of a plugin: use small letters, digits, '.', '_' and '-'", m.Name)
	case len(m.Description) > maxDescription:
		return yamlfile.Problemf("$.description", "it is longer than %d bytes", maxDescription)
	case len(m.Version) > maxVersion:
		return yamlfile.Problemf("$.version", "it is longer than %d bytes", maxVersion)
	case m.Command != nil && (len(m.Command) == 0 || m.Command[0] == "" || len(m.Command) > maxAsked):
		return yamlfile.Problemf("$.command", "it is a program and its arguments, %d words at most", maxAsked)
	case len(m.Occasions) > maxAsked:
		return yamlfile.Problemf("$.occasions", "%d occasions are more than %d", len(m.Occasions), maxAsked)
	case len(m.Env) > maxAsked:
		return yamlfile.Problemf("$.env", "%d variables are more than %d", len(m.Env), maxAsked)
	}
	if p := CheckTranscript("$.transcript", m.Transcript); p != nil {
		return p
	}
	for i, name := range m.Env {
		at := fmt.Sprintf("$.env[%d]", i)
		if !yamlfile.EnvName.MatchString(name) {
			return yamlfile.Problemf(at, "%q is not the name of a variable", name)
		}
		if slices.Contains(m.Env[:i], name) {
			return yamlfile.Problemf(at, "%s is asked for twice", name)
		}
	}
	return nil
}

// Missing lists what the plugin asks for and does not have, neither from the config nor
// from a grant.
func (m Manifest) Missing(env []string, transcript string, granted Entry) []string {
	var missing []string
	for _, name := range m.Env {
		if !slices.Contains(granted.Env, name) && !Gives(env, name) {
			missing = append(missing, name)
		}
	}
	if m.Transcript == TranscriptMessages && granted.Transcript != TranscriptMessages && transcript != TranscriptMessages {
		missing = append(missing, "the transcript")
	}
	return missing
}

// Gives reports whether env (NAME or NAME=value) sets a variable or passes it on.
func Gives(env []string, name string) bool {
	return slices.ContainsFunc(env, func(variable string) bool {
		given, _, _ := strings.Cut(variable, "=")
		return given == name
	})
}
