package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	rewrite = flag.Bool("rewrite", false, "write testdata/surface.txt anew")
	unnamed = flag.Bool("unnamed", false, "list exported names that nothing outside of their package names")
)

const surfaceTable = "testdata/surface.txt"

// TestSurface: the public API must not grow unnoticed. The table has the maximum number of names
// for each package, in tens, so that it does not change with every name.
func TestSurface(t *testing.T) {
	const slack = 25 // a maximum that is so much too high must be lowered
	_, surfaces := public(t)
	most := map[string]int{}
	text, err := os.ReadFile(surfaceTable)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n int
		var room string
		if _, err := fmt.Sscanf(line, "%d %s\n", &n, &room); err != nil {
			t.Fatalf("%s: %q: %v", surfaceTable, line, err)
		}
		most[room] = n
	}
	say, changed := t.Errorf, false
	if *rewrite {
		say = t.Logf
	}
	total := 0
	for _, s := range surfaces {
		n := len(s.Names)
		total += n
		if n > most[s.Path] || n+slack <= most[s.Path] {
			say("%s exports %d names, and %s says at most %d.\n\twhy not: what is exported has to stay as it is, for embedders, plugin authors and client authors. "+
				"Keep it in its package or in internal/ (-run TestUnnamed -v -args -unnamed lists what nobody else names); what these people need has an example. "+
				"Then write down the next ten: go test ./internal/archtest -run TestSurface -args -rewrite", s.Path, n, surfaceTable, most[s.Path])
			most[s.Path], changed = (n+9)/10*10, true
		}
	}
	t.Logf("%d names in %d packages", total, len(surfaces))
	if *rewrite && changed {
		var table strings.Builder
		for _, room := range slices.Sorted(maps.Keys(most)) {
			fmt.Fprintf(&table, "%4d %s\n", most[room], room)
		}
		if err := os.WriteFile(surfaceTable, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAddExported: functions, types, variables, constants, and methods of exported types are
// counted.
func TestAddExported(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
		const A, b = 1, 2
		var C int
		type D[T any] struct{ Field int }
		type e struct{}
		func F() {}
		func g() {}
		func (d *D[T]) H() {}
		func (D[T]) i() {}
		func (e) J() {}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	addExported(names, file)
	if have := slices.Sorted(maps.Keys(names)); !slices.Equal(have, []string{"A", "C", "D", "D.H", "F"}) {
		t.Error(have)
	}
	for pkg, want := range map[string]bool{"recovery": true, "llm/handover": true, "provider/internal/observe": false, "internal": false, "cmd/mulligan": false, "proto/mulligan/v1": false, "bench": false} {
		if isPublic(pkg) != want {
			t.Errorf("%s: %v", pkg, !want)
		}
	}
}

// public returns all packages, including module bench, and the public API of those that may be
// imported.
func public(t *testing.T) ([]Package, []Surface) {
	t.Helper()
	pkgs, err := Load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	surfaces, err := Surfaces(root, pkgs)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := Load(t.Context(), filepath.Join(root, "bench"))
	if err != nil {
		t.Fatal(err)
	}
	return append(pkgs, outside...), surfaces
}

// TestUnnamed lists exported names that nothing uses. A method counts as used wherever its name is
// selected, so that methods which satisfy an interface are not listed.
func TestUnnamed(t *testing.T) {
	if !*unnamed {
		t.Skip("a tool: go test ./internal/archtest -run TestUnnamed -v -args -unnamed")
	}
	pkgs, surfaces := public(t)
	named := documented(t)
	for _, pkg := range pkgs {
		for _, name := range pkg.Files {
			addNamed(t, named, pkg.Path, name)
		}
	}
	for _, s := range surfaces {
		for _, name := range s.Names {
			typ, method, isMethod := strings.Cut(name, ".")
			if isMethod && !named["."+method] || !isMethod && !named[s.Path+"."+typ] && !named[path.Base(s.Path)+"."+typ] {
				fmt.Println(s.Path, name)
			}
		}
	}
}

// addNamed adds the names of other packages that a file uses, as "room.Name", and its selectors, as
// ".Name".
func addNamed(t *testing.T, named map[string]bool, pkg, name string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, pkg, name), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	rooms := map[string]string{}
	for _, spec := range file.Imports {
		room := relative(importPath(spec))
		local := path.Base(room)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		rooms[local] = room
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		named["."+sel.Sel.Name] = true
		if x, ok := sel.X.(*ast.Ident); ok {
			named[rooms[x.Name]+"."+sel.Sel.Name] = true
		}
		return true
	})
	if name == "doc.go" && file.Doc != nil {
		addWords(named, file.Doc.Text())
	}
}

// documented returns the names that occur in the documents.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "*.md")
	cmd.Dir = root
	names, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if name != "CHANGELOG.md" {
			addWords(named, string(text))
		}
	}
	return named
}

// addWords adds each "package.Name" in a text, and its ".Name".
func addWords(named map[string]bool, text string) {
	isWord := func(r rune) bool {
		return r == '.' || r == '_' || strconv.IsPrint(r) && token.IsIdentifier(string(r)) || '0' <= r && r <= '9'
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) }) {
		parts := strings.Split(strings.Trim(word, "."), ".")
		for i := 1; i < len(parts); i++ {
			named[parts[i-1]+"."+parts[i]], named["."+parts[i]] = true, true
		}
	}
}
