package explain

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// TestEveryFaultIsShown: each row and each variant can be shown, and says what to do.
func TestEveryFaultIsShown(t *testing.T) {
	names := map[string]bool{}
	for _, s := range catalogue.All() {
		names[s.Name()] = true
	}
	for _, r := range catalogue.Rows() {
		names[r.ID] = true
	}
	for name := range names {
		row, scripts, err := FindFault(strings.ToLower(name[:1]) + name[1:])
		if err != nil {
			t.Error(err)
			continue
		}
		var out bytes.Buffer
		if err := ShowFault(NewNote(&out), row, scripts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		shown := out.String()
		for _, want := range []string{row.ID, "What a client should do", "What Mulligan makes of it"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: no %q in\n%s", name, want, shown)
			}
		}
		if strings.ContainsAny(shown, "\x1b\x00\x07") {
			t.Errorf("%s shows control characters", name)
		}
	}
}
