package proxy

import (
	"slices"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true},
		{"*", "gpt-5.2", true},
		{"claude-*", "claude-opus-4-8", true},
		{"claude-*", "gpt-5.2", false},
		{"*/gpt*", "openai/gpt-5.2", true},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
		{"gpt", "gpt-5", false},
		{"", "x", false},
	} {
		if got := match(c.pattern, c.name); got != c.want {
			t.Errorf("%q fits %q: %v", c.name, c.pattern, got)
		}
	}
}

func TestModelsFor(t *testing.T) {
	r := Route{Models: []string{"$provider/$model", "anthropic/$model", "openai/gpt-5.2"}}
	if got := r.modelsFor(messages, "claude"); !slices.Equal(got, []string{"anthropic/claude", "openai/gpt-5.2"}) {
		t.Error(got)
	}
	if got := r.modelsFor(messages, "$provider"); got[0] != "anthropic/$provider" {
		t.Errorf("the caller's own words were replaced: %q", got)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a*b*", "aab")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if match(pattern, name) && !match(pattern+"*", name+"x") {
			t.Errorf("%q fits %q, and not with more at the end", name, pattern)
		}
	})
}
