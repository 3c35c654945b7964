package near

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	there := []string{"attempts", "attempt", "max_retries", "models", ""}
	for word, want := range map[string]string{
		"max_retires":            "max_retries",
		"Models":                 "models",
		"retries":                "max_retries",
		"models_too":             "models",
		"weather":                "",
		"x":                      "",
		strings.Repeat("m", 100): "",
	} {
		if got := Word(word, there); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := Word("models", []string{"models"}); got != "" {
		t.Errorf("it is there: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"kitten", "sitting", 3}, {"a", strings.Repeat("a", 65), far}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
