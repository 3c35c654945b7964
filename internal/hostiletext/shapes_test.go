package hostiletext

import (
	"testing"
	"unicode/utf8"
)

func TestShapesAreAsPromised(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Shapes() {
		if seen[s.Name] {
			t.Errorf("there are two of %q", s.Name)
		}
		seen[s.Name] = true
		if n := len(s.Text); n < 6_000 || n > 400_000 || !utf8.ValidString(s.Text) {
			t.Errorf("%s: %d bytes", s.Name, n)
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d shapes", len(seen))
	}
}
