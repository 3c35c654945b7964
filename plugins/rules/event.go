package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/recovery"
)

// LoadEvent reads an event for a dry run, as JSON or YAML, with the names that rules
// use: {"failure": {"kind": "rate_limit", "retry_after": "7s"}, "attempt": 1}. What it
// leaves out is as in an [Example], but alternatives: none said is none there.
func LoadEvent(path string) (*Facts, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return ParseEvent(path, text)
}

// ParseEvent reads an event from text, as the file of that name has it.
func ParseEvent(name string, text []byte) (*Facts, error) {
	s, _, err := parseYAML(name, text)
	if err != nil {
		return nil, err
	}
	f := blankFacts()
	if err := decodeEvent(text, f); err != nil && !errors.Is(err, io.EOF) {
		return nil, Problems{s.syntaxProblem(err)}
	}
	switch {
	case f.Failure.Kind == "":
		return nil, Problems{s.problem(place{1, 1}, `an event needs at least {"failure": {"kind": …}}`)}
	case f.Attempt < 0 || f.Attempt >= recovery.MaxAttemptsPerCall:
		return nil, Problems{s.problem(place{1, 1}, "attempt %d is not between 0 and %d", f.Attempt, recovery.MaxAttemptsPerCall-1)}
	}
	if f.Model == "" {
		f.Model = f.Failure.Model
	}
	f.assume()
	return f, nil
}

// decodeEvent decodes strictly. The decoder panics at some input that is no YAML.
func decodeEvent(text []byte, f *Facts) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this cannot be read: %v", p)
		}
	}()
	return yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(f)
}
