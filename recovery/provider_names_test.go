package recovery

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A provider is called the same in the terminal and in the page, whose names the TypeScript
// client has.
func TestProviderNamesOfTheClients(t *testing.T) {
	source, err := os.ReadFile("../sdk/typescript/client/src/names.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "const providers")
	table, _, _ = strings.Cut(table, "\n};")
	there := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^ +'?([^ ':]+)'?: \[(.+)\],$`).FindAllStringSubmatch(table, -1) {
		there[row[1]] = row[2]
	}
	for entry, known := range knownProviders {
		want := fmt.Sprintf("'%s'", known.name)
		if known.statusURL != "" {
			want += fmt.Sprintf(", '%s'", known.statusURL)
		}
		if there[entry] != want {
			t.Errorf("names.ts has %q for %s, not %q: change both", there[entry], entry, want)
		}
		delete(there, entry)
	}
	for entry := range there {
		t.Errorf("names.ts alone knows %s", entry)
	}
}
