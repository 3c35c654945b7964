package failure

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The TypeScript client lists the kinds, so that a slip in one is found by the compiler.
func TestKindsOfTheClients(t *testing.T) {
	source, err := os.ReadFile("../sdk/typescript/client/src/event.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, union, _ := strings.Cut(string(source), "export type Kind =")
	union, _, _ = strings.Cut(union, ";")
	var there []Kind
	for _, name := range regexp.MustCompile(`'([a-z_]+)'`).FindAllStringSubmatch(union, -1) {
		there = append(there, Kind(name[1]))
	}
	if want := Kinds(); !slices.Equal(there, want) {
		t.Errorf("event.ts lists\n%v\nand the kinds are\n%v: change both", there, want)
	}
}
