package terminal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// TestJSONIsLossless: no character of the output controls the terminal, and a reader decodes the
// original text.
func TestJSONIsLossless(t *testing.T) {
	var all strings.Builder
	for r := rune(1); r < 0x3000; r++ {
		all.WriteRune(r)
	}
	all.WriteString("\u009b2J \u202e 👩\u200d \ufffd")
	want := map[string]string{"\u009dkey": all.String()}
	var out strings.Builder
	encoder := json.NewEncoder(terminal.JSON(&out))
	encoder.SetIndent("", "\t")
	if err := encoder.Encode(want); err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(out.String()) {
		if kept := terminal.Printable(row, true); kept != strings.ReplaceAll(row, "\ufffd", "") {
			t.Errorf("it steers the terminal: %.200q", row)
		}
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got["\u009dkey"] != want["\u009dkey"] {
		t.Errorf("it is not the same (%v)", err)
	}
}
