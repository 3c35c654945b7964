package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// folder contains the mutants, relative to the repository.
const folder = "testdata/mutants"

// mutant is a deliberate defect in the code.
type mutant struct {
	name string   // I04-tool-runs-again
	id   string   // I04, S04 of the security controls, or Pi04 of the promises of provider/pi
	what string   // what is broken
	path string   // of the patch, absolute
	args []string // arguments of go, from "test" on
	env  []string // NAME=value
}

var (
	nameForm    = regexp.MustCompile(`^(I[0-6]\d|S[0-3]\d|Pi0\d)-[a-z0-9-]+$`)
	settingForm = regexp.MustCompile(`^[A-Z_]+=`)
)

// load reads the mutants of a repository whose names begin with one of the prefixes; no
// prefix means all.
func load(root string, prefixes []string) ([]mutant, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.patch"))
	if err != nil {
		return nil, err
	}
	var found []mutant
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".patch")
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if len(prefixes) > 0 && !slices.ContainsFunc(prefixes, begins) {
			continue
		}
		m, err := read(name, path)
		if err != nil {
			return nil, fmt.Errorf("%s/%s.patch: %w", folder, name, err)
		}
		found = append(found, m)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no mutant of %s has a name that begins with %q", folder, prefixes)
	}
	return found, nil
}

// read reads the two lines before the patch.
func read(name, path string) (mutant, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of the repository
	if err != nil {
		return mutant{}, err
	}
	lines := strings.SplitN(string(text), "\n", 3)
	if !nameForm.MatchString(name) {
		return mutant{}, errors.New("its name is not an invariant, a security control or a promise of provider/pi and how it breaks, such as I04-tool-runs-again")
	}
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "# go test ") || !strings.HasPrefix(lines[1], "# ") {
		return mutant{}, errors.New("its first line is not \"# go test …\", or its second does not say what is broken")
	}
	id, _, _ := strings.Cut(name, "-")
	m := mutant{name: name, id: id, what: lines[1][2:], path: path}
	for _, word := range strings.Fields(lines[0])[2:] {
		if settingForm.MatchString(word) {
			m.env = append(m.env, word)
		} else {
			m.args = append(m.args, word)
		}
	}
	return m, nil
}
