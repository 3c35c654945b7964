package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"cel.dev/cel-go/cel"
	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/recovery"
)

// LoadEvent reads an event for a dry run, as JSON or YAML, with the names that rules
// use: {"failure": {"kind": "rate_limit", "retry_after": "7s"}, "attempt": 1}. Missing
// fields are as in an [Example], except that there are no alternatives unless the
// event names some.
func LoadEvent(path string) (*Facts, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parseEvent(path, text)
}

// parseEvent reads an event from the text of the file of that name.
func parseEvent(name string, text []byte) (*Facts, error) {
	s, _, err := parseYAML(name, text)
	if err != nil {
		return nil, err
	}
	f := blankFacts()
	if err := decodeEvent(text, f); err != nil && !errors.Is(err, io.EOF) {
		return nil, Problems{s.eventProblem(err)}
	}
	switch {
	case f.Failure.Kind == "":
		return nil, Problems{s.problem(place{1, 1}, `an event needs at least {"failure": {"kind": …}}`)}
	case f.Attempt < 0 || f.Attempt >= recovery.MaxAttemptsInAll:
		return nil, Problems{s.problem(place{1, 1}, "attempt %d is not between 0 and %d", f.Attempt, recovery.MaxAttemptsInAll-1)}
	}
	if f.Model == "" {
		f.Model = f.Failure.Model
	}
	f.assume()
	return f, nil
}

// eventProblem says what does not belong in an event.
func (s *source) eventProblem(err error) *Problem {
	if wrong := (*yaml.TypeError)(nil); errors.As(err, &wrong) && wrong.Token != nil {
		at := wrong.Token.Position
		return s.problem(place{at.Line, at.Column}, "this should be %s", described(wrong.DstType))
	}
	return s.syntaxProblem(err)
}

// described is the name of a type of Facts for people.
func described(t reflect.Type) string {
	switch celType(t).Kind() {
	case cel.DurationKind:
		return "a duration like 2s"
	case cel.TimestampKind:
		return "a time like 2026-05-04T03:02:01Z"
	case cel.BoolKind:
		return "true or false"
	case cel.IntKind, cel.DoubleKind:
		return "a number"
	case cel.ListKind:
		return "a list"
	case cel.StructKind:
		return "an object"
	}
	return "a text"
}

// decodeEvent decodes strictly. The decoder panics on some invalid YAML.
func decodeEvent(text []byte, f *Facts) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this cannot be read: %v", p)
		}
	}()
	return yaml.NewDecoder(bytes.NewReader(text), yaml.Strict(), yaml.CustomUnmarshaler(decodeTime)).Decode(f)
}

// decodeTime refuses text that is not a time, which the decoder would ignore.
func decodeTime(t *time.Time, text []byte) error {
	var written string
	err := yaml.Unmarshal(text, &written)
	if err == nil {
		*t, err = time.Parse(time.RFC3339, written)
	}
	return err
}
