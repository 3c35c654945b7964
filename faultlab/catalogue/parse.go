package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxFile   = 256 << 10 // bytes
	maxHeader = 64        // lines
)

// parse reads the script file with a name such as "A03" or "O12-server_error".
func parse(name, text string) ([]Script, error) {
	id, variant, _ := strings.Cut(name, "-")
	row, known := Find(id)
	switch {
	case !known:
		return nil, fmt.Errorf("no row %q", id)
	case len(text) > maxFile:
		return nil, fmt.Errorf("longer than %d bytes", maxFile)
	}
	common := Script{Row: id, Variant: variant, Expect: row.expectation()}
	lines := &reader{rest: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	scripts, err := lines.file(common)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", lines.line, err)
	}
	return scripts, nil
}

// reader yields the lines of a file.
type reader struct {
	rest []string
	line int // the number of the last line that was read
}

func (r *reader) next() (string, bool) {
	if len(r.rest) == 0 {
		return "", false
	}
	line := r.rest[0]
	r.rest = r.rest[1:]
	r.line++
	return line, true
}

// within returns the next line, up to the next section.
func (r *reader) within() (string, bool) {
	if len(r.rest) > 0 && strings.HasPrefix(r.rest[0], sectionMark) {
		return "", false
	}
	return r.next()
}

const sectionMark = "== "

func (r *reader) file(common Script) ([]Script, error) {
	if err := r.head(&common); err != nil {
		return nil, err
	}
	if err := common.Expect.check(); err != nil {
		return nil, err
	}
	var scripts []Script
	for line, ok := r.next(); ok; line, ok = r.next() {
		wires, err := wiresOf(strings.TrimPrefix(line, sectionMark))
		if err != nil {
			return nil, err
		}
		section := common
		if err := r.section(&section); err != nil {
			return nil, err
		}
		for _, wire := range wires {
			if slices.ContainsFunc(scripts, func(s Script) bool { return s.Wire == wire }) {
				return nil, fmt.Errorf("a second section for %s", wire)
			}
			section.Wire = wire
			scripts = append(scripts, section)
		}
	}
	switch {
	case len(scripts) > 0:
		return scripts, nil
	case common.Transport == "" && common.Client == "":
		return nil, errors.New("no section, transport or client")
	}
	return []Script{common}, nil
}

func wiresOf(names string) ([]string, error) {
	if strings.TrimSpace(names) == "*" {
		return Wires(), nil
	}
	wires := strings.Fields(names)
	if len(wires) == 0 {
		return nil, errors.New("a section without a wire")
	}
	for _, w := range wires {
		if !slices.Contains(Wires(), w) {
			return nil, fmt.Errorf("no wire %q", w)
		}
	}
	return wires, nil
}

func (r *reader) head(s *Script) error {
	for line, ok := r.within(); ok; line, ok = r.within() {
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok || value == "" {
			return fmt.Errorf("%q is not \"key: value\"", line)
		}
		if err := s.set(key, value); err != nil {
			return err
		}
	}
	return nil
}

// set handles one line of the head.
func (s *Script) set(key, value string) error {
	e := &s.Expect
	switch key {
	case "kind":
		if value != Answer && !isKind(value) {
			return fmt.Errorf("no kind %q", value)
		}
		if e.Kind = value; value == Answer {
			e.Retryable = nil
		}
	case "retryable":
		yes := value == "yes"
		e.Retryable = &yes
		if !yes && value != "no" {
			return errors.New("retryable is neither yes nor no")
		}
	case "wait":
		return e.setWait(value)
	case "resets":
		at, err := time.Parse(time.RFC3339, value)
		e.ResetsAt = at
		return err
	case "text":
		e.Text = value
	case "note":
		e.Note = strings.TrimSpace(e.Note + " " + value)
	case "transport":
		s.Transport = value
	case "client":
		s.Client = value
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

func (e *Expectation) setWait(value string) error {
	var wait time.Duration
	if value != "none" {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not a wait", value)
		}
		wait = d
	}
	e.Wait = &wait
	return nil
}

// check checks that the expectation is exact.
func (e *Expectation) check() error {
	e.Answer = e.Kind == Answer
	switch {
	case e.Kind == "-":
		return errors.New("neither the row nor the script says the kind")
	case e.Answer && e.Retryable != nil:
		return errors.New("an answer is not retryable")
	case !e.Answer && e.Retryable == nil:
		return errors.New("neither the row nor the script says whether it is retryable")
	case !e.Answer && e.Text != "":
		return errors.New("only an answer says a text")
	}
	return nil
}

func (r *reader) section(s *Script) error {
	status, _ := r.within()
	if status != "raw" {
		code, err := strconv.Atoi(status)
		if err != nil || code < 200 || code > 599 {
			return fmt.Errorf("%q is neither a status nor raw", status)
		}
		s.Status = code
	}
	if err := r.header(s); err != nil {
		return err
	}
	return r.body(s)
}

func (r *reader) header(s *Script) error {
	for line, ok := r.within(); ok && line != ""; line, ok = r.within() {
		name, value, ok := strings.Cut(line, ": ")
		switch {
		case s.Status == 0:
			return errors.New("a raw answer has no header")
		case !ok || name == "" || strings.Trim(name, headerLetters) != "":
			return fmt.Errorf("%q is not a header", line)
		case len(s.Header) == maxHeader:
			return fmt.Errorf("more than %d header lines", maxHeader)
		}
		if err := checkPlaceholders(value); err != nil {
			return err
		}
		s.Header = append(s.Header, [2]string{name, value})
	}
	return nil
}

const headerLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"
