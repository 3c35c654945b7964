package catalogue

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTheTableIsTheTeams compares the embedded table with the original, which lies
// outside of this repository.
func TestTheTableIsTheTeams(t *testing.T) {
	path := os.Getenv("MULLIGAN_FAULTS")
	if path == "" {
		path = filepath.Join("..", "..", "..", "shared", "faults.tsv")
	}
	want, err := os.ReadFile(path)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("the fault catalogue is missing; set MULLIGAN_FAULTS: %v", err)
	}
	if err != nil {
		t.Skipf("NOT TESTED: the fault catalogue is missing; set MULLIGAN_FAULTS: %v", err)
	}
	if table != string(want) {
		t.Errorf("faults.tsv is not %s: copy it", path)
	}
}

func TestRows(t *testing.T) {
	rows := Rows()
	if len(rows) < 150 {
		t.Fatalf("only %d rows", len(rows))
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if r.ID == "" || seen[r.ID] {
			t.Errorf("row %q twice, or without an id", r.ID)
		}
		seen[r.ID] = true
	}
	row, ok := Find("T58")
	if !ok || row.Provider != "*" || row.Status != "429" || row.Headers != "retry-after: 7200" || row.Source == "" {
		t.Errorf("%+v", row)
	}
	if _, ok := Find("Z99"); ok {
		t.Error("found a row that there is not")
	}
}
