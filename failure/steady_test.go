package failure

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsAroundChangesNothing puts what programs add to a provider's message around every
// message of the corpora that is classified rightly: its kind does not change.
func TestWhatIsAroundChangesNothing(t *testing.T) {
	around := map[string]func(string) string{
		"a label": func(s string) string { return "Error: " + s },
		"retries": func(s string) string { return "Failed after 3 attempts. Last error: " + s },
		"a link": func(s string) string {
			return s + " See https://docs.example.com/billing/rate-limits/errors for details."
		},
		"an apostrophe": func(s string) string { return strings.ReplaceAll(s, "'", "’") },
	}
	// The words of an unnamed list are not read if the JSON is part of a sentence.
	known := []string{"{ detail: { stop_sequence: [ 'Unknown field.' ] } }"}
	right := 0
	for _, c := range corpora {
		for _, row := range c.rows(t) {
			if row.e.Status != 0 || len(row.e.Body) > 0 || slices.Contains(known, row.message) || !slices.Contains(row.kinds, string(Classify(row.e).Kind)) {
				continue
			}
			right++
			for name, put := range around {
				message := put(row.e.Err.Error())
				if f := Classify(Evidence{Err: errors.New(message)}); !slices.Contains(row.kinds, string(f.Kind)) {
					t.Errorf("%s:%d with %s: %s, want %s: %q", c.file, row.line, name, f.Kind, row.kinds, message)
				}
			}
		}
	}
	if right == 0 {
		t.Error("no message is right")
	}
}
