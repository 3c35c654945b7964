package openai

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestArguments: whether they are complete is told as encoding/json would tell it, after every
// piece.
func TestArguments(t *testing.T) {
	for _, text := range []string{
		`{"a":1}`, `{"a":{"b":[1,"}",{}]}} `, ` {"a":"\"}"}`, `{"a":"\\"}`, `[1]`, `"a\"b" `, `null`, `12`, `true`, `{}{}`, `{} x`, `}`, `{]`,
		`{"a":1,}`, `[`, `"`, ``, ` `, `{"` + strings.Repeat("a", 2*maxLiteral) + `":1} `, `{"` + strings.Repeat("a", 2*maxLiteral) + `":1}{}`,
	} {
		var a arguments
		for i := range len(text) {
			a.add(text[i : i+1])
			if got, want := a.whole(), json.Valid([]byte(text[:i+1])); got != want {
				t.Errorf("%q is whole: %v", text[:i+1], got)
			}
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"\"}"} {}`)
	f.Add("[1e5, null]\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		var a arguments
		for i := range min(len(text), 1<<10) {
			a.add(text[i : i+1])
			whole := json.Valid([]byte(text[:i+1]))
			if got := a.whole(); got && !whole || !got && whole && i < maxLiteral {
				t.Fatalf("%q is whole: %v", text[:i+1], got)
			}
		}
	})
}
