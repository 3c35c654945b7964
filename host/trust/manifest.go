package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Manifest is mulligan-plugin.yaml, in which a plugin asks for what it needs. It is
// the plugin's word, and gives it nothing.
type Manifest struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Env         []string `yaml:"env"`        // variables, by name
	Transcript  string   `yaml:"transcript"` // none, or messages: what is said in the runs that it is asked about
}

// What a plugin may be told of a run's transcript.
const (
	transcriptNone     = "none"
	TranscriptMessages = "messages"
)

// CheckTranscript says what is wrong with the word that asks for a transcript, or gives it.
func CheckTranscript(at, word string) *yamlfile.Problem {
	switch word {
	case "", transcriptNone, TranscriptMessages:
		return nil
	}
	return yamlfile.Problemf(at, "%q: write messages, or none", word)
}

const (
	manifestName   = "mulligan-plugin.yaml"
	maxManifest    = 64 << 10 // bytes
	maxDescription = 500      // bytes
	maxAsked       = 64       // variables
)

// ReadManifest reads the one in a plugin's folder; an empty one stands for none.
func ReadManifest(folder string) (Manifest, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(manifestName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, nil
	}
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return Manifest{}, errors.Join(err, fmt.Errorf("%s is no ordinary file", manifestName))
	}
	source, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return Manifest{}, err
	}
	if len(source) > maxManifest {
		return Manifest{}, fmt.Errorf("%s is larger than %d bytes", manifestName, maxManifest)
	}
	m, err := parseManifest(source)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", manifestName, err)
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

// Problem finds the first value that is wrong.
func (m Manifest) Problem() *yamlfile.Problem {
	switch {
	case m.Name != "" && !yamlfile.EntryName.MatchString(m.Name):
		return yamlfile.Problemf("$.name", "%q is no name of a plugin: use small letters, digits, '.', '_' and '-'", m.Name)
	case len(m.Description) > maxDescription:
		return yamlfile.Problemf("$.description", "it is longer than %d bytes", maxDescription)
	case len(m.Env) > maxAsked:
		return yamlfile.Problemf("$.env", "%d variables are more than %d", len(m.Env), maxAsked)
	}
	if p := CheckTranscript("$.transcript", m.Transcript); p != nil {
		return p
	}
	for i, name := range m.Env {
		at := fmt.Sprintf("$.env[%d]", i)
		if !yamlfile.EnvName.MatchString(name) {
			return yamlfile.Problemf(at, "%q is no name of a variable", name)
		}
		if slices.Contains(m.Env[:i], name) {
			return yamlfile.Problemf(at, "%s is asked for twice", name)
		}
	}
	return nil
}

// Missing is what the plugin asks for and has not: neither does the config give it, nor
// was it granted.
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

// Gives reports whether env, of NAME or NAME=value, sets a variable or passes it on.
func Gives(env []string, name string) bool {
	return slices.ContainsFunc(env, func(variable string) bool {
		given, _, _ := strings.Cut(variable, "=")
		return given == name
	})
}
