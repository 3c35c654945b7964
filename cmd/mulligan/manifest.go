package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// manifest is mulligan-plugin.yaml, in which a plugin asks for what it needs. It is
// the plugin's word, and gives it nothing.
type manifest struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Env         []string `yaml:"env"`        // variables, by name
	Transcript  string   `yaml:"transcript"` // none, or messages: what is said in the runs that it is asked about
}

// What a plugin may be told of a run's transcript.
const (
	transcriptNone     = "none"
	transcriptMessages = "messages"
)

// checkTranscript says what is wrong with the word that asks for a transcript, or gives it.
func checkTranscript(at, word string) *problem {
	switch word {
	case "", transcriptNone, transcriptMessages:
		return nil
	}
	return problemf(at, "%q: write messages, or none", word)
}

const (
	manifestName   = "mulligan-plugin.yaml"
	maxManifest    = 64 << 10 // bytes
	maxDescription = 500      // bytes
	maxAsked       = 64       // variables
)

// readManifest reads the one in a plugin's folder; an empty one stands for none.
func readManifest(folder string) (manifest, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return manifest{}, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(manifestName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, nil
	}
	if err != nil {
		return manifest{}, err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return manifest{}, errors.Join(err, fmt.Errorf("%s is no ordinary file", manifestName))
	}
	source, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return manifest{}, err
	}
	if len(source) > maxManifest {
		return manifest{}, fmt.Errorf("%s is larger than %d bytes", manifestName, maxManifest)
	}
	m, err := parseManifest(source)
	if err != nil {
		return manifest{}, fmt.Errorf("%s: %w", manifestName, err)
	}
	return m, nil
}

// parseManifest reads a manifest strictly.
func parseManifest(source []byte) (manifest, error) {
	var m manifest
	if err := readStrictly(source, &m); err != nil {
		return manifest{}, err
	}
	return m, nil
}

func (m manifest) problem() *problem {
	switch {
	case m.Name != "" && !entryName.MatchString(m.Name):
		return problemf("$.name", "%q is no name of a plugin: use small letters, digits, '.', '_' and '-'", m.Name)
	case len(m.Description) > maxDescription:
		return problemf("$.description", "it is longer than %d bytes", maxDescription)
	case len(m.Env) > maxAsked:
		return problemf("$.env", "%d variables are more than %d", len(m.Env), maxAsked)
	}
	if p := checkTranscript("$.transcript", m.Transcript); p != nil {
		return p
	}
	for i, name := range m.Env {
		at := fmt.Sprintf("$.env[%d]", i)
		if !envName.MatchString(name) {
			return problemf(at, "%q is no name of a variable", name)
		}
		if slices.Contains(m.Env[:i], name) {
			return problemf(at, "%s is asked for twice", name)
		}
	}
	return nil
}

// missing is what the plugin asks for and has not: neither does the config give it, nor
// was it granted.
func (m manifest) missing(p pluginEntry, granted lockEntry) []string {
	var missing []string
	for _, name := range m.Env {
		if !slices.Contains(granted.Env, name) && !p.gives(name) {
			missing = append(missing, name)
		}
	}
	if m.Transcript == transcriptMessages && granted.Transcript != transcriptMessages && p.Transcript != transcriptMessages {
		missing = append(missing, "the transcript")
	}
	return missing
}

// gives reports whether the config itself sets a variable or passes it on.
func (p pluginEntry) gives(name string) bool {
	return slices.ContainsFunc(p.Env, func(variable string) bool {
		given, _, _ := strings.Cut(variable, "=")
		return given == name
	})
}
