package failure

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// trackerFiles are errors as people reported them in public trackers, with the kinds that a reader
// who did not know this package gave them.
var trackerFiles = []string{"trackers.tsv", "trackers-2.tsv"}

// trackersDiffer are the rows for which another kind than the file's is better, each with the
// reason.
var trackersDiffer = map[string]string{
	"Y19": "a 504 that a message names is unavailable, whoever passes it on",
	"Y31": "a gateway's whole message is that the provider behind it failed: unavailable, which is tried again",
}

// trackerRow is one reported error.
type trackerRow struct{ id, provider, status, headers, body, message, when, kind, retryable, why string }

func trackerRows(t *testing.T, name string) []trackerRow {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var rows []trackerRow
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		c := strings.Split(line, "\t")
		if len(c) != 12 {
			t.Fatalf("%s:%d has %d columns", name, i+1, len(c))
		}
		if i > 0 {
			rows = append(rows, trackerRow{c[0], c[1], c[2], c[4], c[5], c[6], c[7], c[8], c[9], c[11]})
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return rows
}

func (row trackerRow) evidence() Evidence {
	e := catalogueRow{id: row.id, provider: row.provider, status: row.status, headers: row.headers, body: "-", when: row.when}.evidence()
	if row.body != "" {
		e.Body = []byte(cell(row.body))
	}
	if row.message != "" {
		e.Err = errors.New(cell(row.message))
	}
	return e
}

// cell restores a cell's line ends: `\n` is a line end, unless the cell is JSON, which escapes its own.
func cell(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	return strings.ReplaceAll(text, `\n`, "\n")
}

// TestTrackers checks each reported error's kind, and whether the same input may succeed later.
func TestTrackers(t *testing.T) {
	right, total := 0, 0
	for _, name := range trackerFiles {
		for _, row := range trackerRows(t, name) {
			total++
			d := Diagnose(row.evidence())
			checkEvidence(t, row.id, d)
			checkWords(t, row.id, d.Failure)
			same := string(d.Failure.Kind) == row.kind && row.retryableAs(d.Failure)
			why, differs := trackersDiffer[row.id]
			switch {
			case differs && same:
				t.Errorf("%s gets its kind, and is listed as one that does not (%s)", row.id, why)
			case !differs && !same:
				t.Errorf("%s: %s (retryable %v), want %s (%s)\nfrom %s%s\nby %s\nwhy: %s", row.id,
					d.Failure.Kind, d.Failure.Retryable, row.kind, row.retryable, row.body, row.message, spoken(d), row.why)
			case same:
				right++
			}
		}
	}
	t.Logf("%d of %d right", right, total)
}

func (row trackerRow) retryableAs(f *Failure) bool {
	switch {
	case !f.Retryable:
		return row.retryable == "no"
	case f.Kind.Once():
		return row.retryable == "once"
	}
	return row.retryable == "yes"
}
