package splice_test

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm/splice"
)

// FuzzJoiner: whatever a model says when it is to go on, and however that comes in pieces, what is
// shown of it is the end of what it said, and the same.
func FuzzJoiner(f *testing.F) {
	for _, seed := range []struct{ text, then string }{
		{"It is 14", " degrees."},
		{"It is 14", "It is 14 degrees."},
		{"It is: ", " \n14"},
		{"The quick brown fox jumps over the lazy dog, again", "the lazy dog, again and again"},
		{"Grüße aus Köln, ", "Köln, wo es regnet"},
		{"\n", "\nIt is"},
	} {
		f.Add(seed.text, seed.then, uint16(3), false)
		f.Add(seed.text, seed.then, uint16(1), true)
	}
	f.Fuzz(func(t *testing.T, text, then string, cut uint16, quoted bool) {
		form := splice.Prefill
		if quoted {
			form = splice.Quote
		}
		whole, wrong := join(text, form, then)
		at := int(cut) % (len(then) + 1)
		parts, wrongParts := join(text, form, then[:at], then[at:])
		if (wrong == nil) != (wrongParts == nil) {
			t.Fatalf("after %q: %q is %v, and in two pieces %v", text, then, wrong, wrongParts)
		}
		if wrong != nil {
			return
		}
		shown := strings.Join(whole, "")
		if again := strings.Join(parts, ""); again != shown {
			t.Fatalf("after %q: of %q %q is shown, and in two pieces %q", text, then, shown, again)
		}
		if !strings.HasSuffix(then, shown) {
			t.Fatalf("after %q: of %q %q is shown", text, then, shown)
		}
	})
}
