package recovery

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBodiesAreAll: an event that is not in the table would be read as one of a newer version.
func TestBodiesAreAll(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"Unknown": true}
	for _, body := range bodies {
		listed[body.Name()] = true
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "eventType" {
			if of, ok := f.Recv.List[0].Type.(*ast.Ident); ok && !listed[of.Name] {
				t.Errorf("bodies has no %s", of.Name)
			}
		}
	}
}

// TestEventsOfTheClients: the TypeScript client lists the events with what they say.
func TestEventsOfTheClients(t *testing.T) {
	source, err := os.ReadFile("../sdk/typescript/client/src/event.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "export interface Bodies {\n")
	list, _, _ = strings.Cut(list, "\n}\n")
	var there []string
	for _, name := range regexp.MustCompile(`(?m)^  (\w+): `).FindAllStringSubmatch(list, -1) {
		there = append(there, name[1])
	}
	slices.Sort(there)
	if want := slices.Sorted(maps.Keys(bodies)); !slices.Equal(there, want) {
		t.Errorf("event.ts lists\n%v\nand the events are\n%v: change both", there, want)
	}
}
