package failure

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// portCase is evidence in the ports' form.
type portCase struct {
	ID       string            `json:"id"`
	Kind     Kind              `json:"kind,omitempty"`
	Phase    Phase             `json:"phase,omitempty"`
	Provider string            `json:"provider,omitempty"`
	Model    string            `json:"model,omitempty"`
	Status   int               `json:"status,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     portText          `json:"body,omitzero"`
	Error    *portText         `json:"error,omitempty"`
	TimedOut bool              `json:"timedOut,omitempty"`
	At       time.Time         `json:"at,omitzero"`
}

// portText is a text of which a piece in the middle is repeated.
type portText struct {
	Head  string
	Unit  string
	Times int
	Tail  string
}

func (text portText) String() string {
	return text.Head + strings.Repeat(text.Unit, text.Times) + text.Tail
}

// MarshalJSON writes a string or, if it is repeated or not UTF-8, its parts.
func (text portText) MarshalJSON() ([]byte, error) {
	switch {
	case !utf8.ValidString(text.String()):
		return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(text.String()))})
	case text.Times == 0:
		return json.Marshal(text.String())
	}
	return json.Marshal(map[string]any{"head": text.Head, "unit": text.Unit, "times": text.Times, "tail": text.Tail})
}

// spokenError is an error that may be a timeout.
type spokenError struct {
	text     string
	timedOut bool
}

func (e spokenError) Error() string { return e.text }
func (e spokenError) Timeout() bool { return e.timedOut }

func (row portCase) evidence() Evidence {
	e := Evidence{
		Kind: row.Kind, Phase: row.Phase, Provider: row.Provider, Model: row.Model, Status: row.Status,
		Header: map[string][]string{}, Body: []byte(row.Body.String()), At: row.At,
	}
	for name, value := range row.Headers {
		e.Header[name] = []string{value}
	}
	if row.Error != nil {
		e.Err = spokenError{row.Error.String(), row.TimedOut}
	}
	return e
}

func portCaseOf(id string, e Evidence) portCase {
	row := portCase{
		ID: id, Kind: e.Kind, Phase: e.Phase, Provider: e.Provider, Model: e.Model, Status: e.Status,
		Body: portText{Head: string(e.Body)}, At: e.At, Headers: map[string]string{},
	}
	for name, values := range e.Header {
		row.Headers[name] = values[0]
	}
	if e.Err != nil {
		row.Error = &portText{Head: e.Err.Error()}
	}
	return row
}

// portResult is every field of a Failure, and its confidence. Times are in milliseconds, the
// precision of JavaScript.
func portResult(row portCase) json.RawMessage {
	d := Diagnose(row.evidence())
	f := d.Failure
	f.ResetsAt = f.ResetsAt.Truncate(time.Millisecond)
	return compact(struct {
		*Failure
		Once       bool `json:"once,omitempty"`
		Confidence int  `json:"confidence,omitempty"`
	}{f, f.Kind.Once(), d.Confidence})
}

func compact(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// portCases are the evidence of every table of this package, and hostile input.
func portCases(t *testing.T) []portCase {
	t.Helper()
	var list []portCase
	for _, row := range catalogue(t) {
		if notClassified[row.id] == "" {
			list = append(list, portCaseOf(row.id, row.evidence()))
		}
	}
	for _, name := range trackerFiles {
		for _, row := range trackerRows(t, name) {
			list = append(list, portCaseOf(row.id, row.evidence()))
		}
	}
	for _, name := range []string{"errors.tsv", "messages.tsv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n")[1:] {
			cells, id := strings.Split(line, "\t"), fmt.Sprintf("%s:%d", name, i+2)
			if name == "messages.tsv" {
				list = append(list, portCaseOf(id, Evidence{Err: errors.New(cells[2])}))
				continue
			}
			var message string
			if err := json.Unmarshal([]byte(`"`+cells[3]+`"`), &message); err != nil {
				t.Fatal(err)
			}
			list = append(list, portCaseOf(id, reported(t, cells[1], cells[2], message)))
		}
	}
	return append(list, oddCases()...)
}

// languageCases are the corpora of which half is in languages other than English.
func languageCases(t *testing.T) []portCase {
	t.Helper()
	var list []portCase
	for _, file := range []string{"third.tsv", "tenth.tsv", "eleventh.tsv", "twelfth.tsv", "thirteenth.tsv", "fourteenth.tsv", "fifteenth.tsv"} {
		for _, row := range (corpus{file: file}).rows(t) {
			list = append(list, portCaseOf(fmt.Sprintf("%s:%d", file, row.line), row.e))
		}
	}
	return list
}

// TestPortGoldens writes the rows against which mulligan-failure for Python and
// @mulligan-run/failure for TypeScript are tested: each line has evidence and every field of its
// Failure.
func TestPortGoldens(t *testing.T) {
	cases := portCases(t)
	var b strings.Builder
	for _, row := range slices.Concat(cases, goldenMutants(cases), languageCases(t)) {
		b.Write(compact(struct {
			Evidence portCase        `json:"evidence"`
			Failure  json.RawMessage `json:"failure"`
		}{row, portResult(row)}))
		b.WriteByte('\n')
	}
	path := filepath.Join("testdata", "ports.jsonl")
	if *rewrite {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != b.String() {
		t.Errorf("%s is not what this package says by now (%v): run make ports, then make python typescript", path, err)
	}
}

// ports are the commands that run each port: it reads lines of evidence and prints a line for each.
var ports = []struct {
	name, folder string
	programs     []string
	prepare      string
	ask          []string
}{
	{"python", "../sdk/python/failure", []string{"python3"}, "", []string{"python3", "tests/answer.py"}},
	{"typescript", "../sdk/typescript/failure", []string{"node", "npm"}, "npm ci --ignore-scripts --silent && npm run --silent build", []string{"node", "dist/test/answer.js"}},
}

// TestPorts has each port classify mutants of all known cases, and compares the results.
func TestPorts(t *testing.T) {
	if testing.Short() {
		t.Skip("asks Python and Node about thousands of errors")
	}
	cases := portCases(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rows := mutants(cases, seed)
	var input bytes.Buffer
	for _, row := range rows {
		input.Write(compact(row))
		input.WriteByte('\n')
	}
	for _, port := range ports {
		t.Run(port.name, func(t *testing.T) {
			needs.Programs(t, "the port of package failure to "+port.name, port.programs...)
			if port.prepare != "" {
				prepare := exec.Command("sh", "-c", port.prepare)
				prepare.Dir = port.folder
				if out, err := prepare.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", port.prepare, err, out)
				}
			}
			ask := exec.Command(port.ask[0], port.ask[1:]...)
			ask.Dir, ask.Stdin, ask.Stderr = port.folder, bytes.NewReader(input.Bytes()), os.Stderr
			out, err := ask.Output()
			if err != nil {
				t.Fatal(err)
			}
			compareAnswers(t, rows, out)
		})
	}
}

func compareAnswers(t *testing.T, rows []portCase, out []byte) {
	t.Helper()
	answers := bufio.NewScanner(bytes.NewReader(out))
	answers.Buffer(nil, 1<<20)
	differ := 0
	for _, row := range rows {
		if !answers.Scan() {
			t.Fatalf("no answer to %s", row.ID)
		}
		var got, want map[string]any
		if err := errors.Join(json.Unmarshal(answers.Bytes(), &got), json.Unmarshal(portResult(row), &want)); err != nil {
			t.Fatalf("%s: %v: %.300s", row.ID, err, answers.Bytes())
		}
		if g, w := compact(got), compact(want); !bytes.Equal(g, w) {
			if differ++; differ <= 5 {
				t.Errorf("%s\n  %s\n gives %s\n not   %s", row.ID, compact(row), g, w)
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d differ", differ, len(rows))
	}
}
