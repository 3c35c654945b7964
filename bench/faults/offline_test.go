package faults

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// arrived is when faults arrive; the catalogue's dates are later.
var arrived = time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)

// readOffline is how failure's own test classifies each row as it is in the table, without any
// wire. It has no rows that are no failure, or several.
func readOffline(t *testing.T) map[string]*failure.Failure {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "failure", "testdata", "offline.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	became := map[string]*failure.Failure{}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range lines[1:] {
		c := strings.Split(line, "\t")
		if len(c) != 4 {
			t.Fatalf("offline.tsv: %q", line)
		}
		after, err := strconv.ParseInt(c[3], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f := failure.NewFailure(failure.Kind(c[1]), failure.OriginModel, "", nil)
		f.Retryable, f.RetryAfter = c[2] == "true", failure.Millis(after)
		became[c[0]] = f
	}
	return became
}

// wantOffline is what the row alone says. The runner may know more, and hints that are relative to
// the time of play, or missing from the table's short form, are left out.
func wantOffline(row catalogue.Row, s catalogue.Script) catalogue.Expectation {
	want := s.Expect
	if want.Kind != row.Kind {
		want = catalogue.Expectation{Kind: row.Kind}
	}
	want.ResetsAt = time.Time{}
	if row.ID == "T59" || row.ID == "A20" || strings.Contains(row.Body, "…") {
		want.Wait = nil
	}
	return want
}
