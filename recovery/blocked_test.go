package recovery

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A limit is called the same in the terminal and in the page, whose words the TypeScript
// client has.
func TestLimitsOfTheClients(t *testing.T) {
	source, err := os.ReadFile("../sdk/typescript/client/src/names.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "const limits")
	table, _, _ = strings.Cut(table, "\n};")
	there := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^ +([a-z_]+): '(.+)',$`).FindAllStringSubmatch(table, -1) {
		there[row[1]] = row[2]
	}
	if fmt.Sprint(there) != fmt.Sprint(limits) {
		t.Errorf("names.ts has\n%v\nand the runner\n%v: change both", there, limits)
	}
}

// Whatever forbids something in a story has words of its own.
func TestLimitsHaveWords(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range stories(t) {
		for _, e := range events(t, play(t, w()).log) {
			if d, ok := e.Body.(Decided); ok && d.Decision.BlockedBy != "" {
				seen[d.Decision.BlockedBy] = true
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("the stories know only the limits %v", seen)
	}
	for by := range seen {
		if limits[by] == "" {
			t.Errorf("%s is told by its name", by)
		}
	}
	if got := LimitInWords("a_limit_of_tomorrow"); got != "a limit of tomorrow" {
		t.Error(got)
	}
}
