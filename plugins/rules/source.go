package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits on a file.
const (
	maxFile    = 256 << 10 // bytes
	maxRules   = 256
	maxNesting = 500 // nested brackets: parsing time grows with the square
	maxDashes  = 100 // list items that begin on one line, likewise
)

// source is the text of a file and its lines.
type source struct {
	name  string
	lines [][]rune
}

// place is a position in a source, from 1, in characters.
type place struct{ line, column int }

func newSource(name string, text []byte) *source {
	s := &source{name: name}
	for line := range strings.SplitSeq(string(text), "\n") {
		s.lines = append(s.lines, []rune(strings.TrimSuffix(line, "\r")))
	}
	return s
}

func (s *source) problem(at place, format string, args ...any) *Problem {
	at.line = min(max(at.line, 1), len(s.lines))
	line := s.lines[at.line-1]
	at.column = min(max(at.column, 1), len(line)+1)
	return &Problem{
		File: s.name, Line: at.line, Column: at.column, Text: fmt.Sprintf(format, args...), Excerpt: excerpt(line, at.line, at.column),
	}
}

// readFile reads no more of a file than it may contain.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return text, err
}

// parseYAML returns the tree of a file, nil if the file is empty.
func parseYAML(name string, text []byte) (*source, *ast.File, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s := newSource(name, text)
	switch {
	case len(text) > maxFile:
		return nil, nil, fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	case !utf8.Valid(text):
		return nil, nil, Problems{s.problem(place{invalidLine(text), 1}, "this is not valid UTF-8")}
	}
	if at, deep := tooDeep(s); deep {
		return nil, nil, Problems{s.problem(at, "this is nested too deeply")}
	}
	file, err := parseTree(text)
	if err != nil {
		return nil, nil, Problems{s.syntaxProblem(err)}
	}
	return s, file, nil
}

// parseTree parses YAML. The parser panics on some invalid input.
func parseTree(text []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", p)
		}
	}()
	return parser.ParseBytes(text, 0)
}

// syntaxProblem says where the parser stopped.
func (s *source) syntaxProblem(err error) *Problem {
	if located := yaml.Error(nil); errors.As(err, &located) && located.GetToken() != nil {
		at := located.GetToken().Position
		return s.problem(place{at.Line, at.Column}, "%s", located.GetMessage())
	}
	return s.problem(place{1, 1}, "%v", err)
}

func invalidLine(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		text = text[size:]
	}
	return line
}

// tooDeep finds nesting deeper than any file of rules needs. It also counts brackets
// in strings, which are balanced or few.
func tooDeep(s *source) (place, bool) {
	depth := 0
	for i, line := range s.lines {
		dashes := 0
		for j, r := range line {
			switch {
			case r == '[' || r == '{':
				depth++
			case r == ']' || r == '}':
				depth = max(0, depth-1)
			case (r == '-' || r == '?' || r == ':') && j+1 < len(line) && line[j+1] == ' ':
				dashes++
			}
			if depth > maxNesting || dashes > maxDashes && depth == 0 {
				return place{i + 1, j + 1}, true
			}
		}
	}
	return place{}, false
}
