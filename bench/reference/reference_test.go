package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// top is the repository, relative to this folder.
var top = filepath.Join("..", "..")

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := pages[name](top)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// without finds the rows of a table whose last column is empty.
var without = regexp.MustCompile("(?m)^\\| `[^|]*\\|[^|]*\\| *\\|$")

// TestEveryKeyIsExplained: the page has every key that the configuration's code reads, with an
// explanation.
func TestEveryKeyIsExplained(t *testing.T) {
	text := page(t, "config.md")
	for _, row := range without.FindAllString(text, -1) {
		t.Errorf("nothing is said of the key %s", row)
	}
	files, err := filepath.Glob(filepath.Join(top, "config", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range regexp.MustCompile(`yaml:"(\w+)"`).FindAllStringSubmatch(string(source), -1) {
			keys++
			if !strings.Contains(text, "| `"+key[1]+"` |") {
				t.Errorf("%s reads the key %s, which the page does not have", file, key[1])
			}
		}
	}
	if keys < 100 {
		t.Errorf("only %d keys were found", keys)
	}
	for _, word := range []string{"nil", "Config.", "recovery.", "provider.Known"} {
		if strings.Contains(text, word) {
			t.Errorf("the page says %q, which is no word of somebody who writes YAML", word)
		}
	}
}

// TestEveryEventIsExplained: every event is on the page, and every field's own structure.
func TestEveryEventIsExplained(t *testing.T) {
	text := page(t, "events.md")
	for _, event := range []string{"started", "answered", "failed", "tool_returned", "suggested", "accepted", "ended"} {
		if !strings.Contains(text, "\n## "+event+"\n\n") {
			t.Errorf("there is no event %s", event)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(#(\w+)\)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(strings.ToLower(text), "\n## "+link[1]+"\n") {
			t.Errorf("nothing on the page is called %s", link[1])
		}
	}
	if strings.Contains(text, "\n\n\n") {
		t.Error("an event has no words")
	}
}

// TestTheAPIIsWhole: the operations that a client needs first are on the page, with their fields.
func TestTheAPIIsWhole(t *testing.T) {
	text := page(t, "api.md")
	for _, want := range []string{"## POST /v1/runs\n", "## GET /v1/runs/{id}/events\n", "| `prompt` | body |", "## POST /v1/decide\n", "| `after` | query |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestEveryMessageIsExplained: each declaration of the protocol is a row with an explanation.
func TestEveryMessageIsExplained(t *testing.T) {
	text := page(t, "protocol-messages.md")
	for _, row := range without.FindAllString(text, -1) {
		t.Errorf("nothing is said of %s", row)
	}
	for _, want := range []string{"## RecoveryPlugin\n", "| `RunError` | `RunErrorRequest` → `RunErrorResponse` |", "| `VERDICT_ROUTE` | 2 |", "| `labels` = 5 | `map<string, string>` |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
