package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryBenchmarkRuns runs each benchmark of both modules once. No other test does, so a broken
// one would be noticed only when somebody measures. With -short slow benchmarks do less.
func TestEveryBenchmarkRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the benchmarks of all rooms, for some minutes")
	}
	for _, module := range []string{"../..", ".."} {
		wanted := benchmarks(t, module)
		if len(wanted) == 0 {
			t.Errorf("the module in %s has no benchmarks", module)
			continue
		}
		ended, output := runOnce(t, module, wanted)
		for dir, names := range wanted {
			for _, name := range names {
				key := dir + "." + name
				t.Run(key, func(t *testing.T) {
					switch said := output[key]; {
					case ended[key] == "fail":
						t.Error(said)
					case ended[key] == "skip":
						t.Skip(said)
					case !reported(said):
						t.Errorf("it measured nothing: %s%s", said, output[dir+"."])
					}
				})
			}
		}
	}
}

// reported reports whether output has a benchmark's numbers.
func reported(output string) bool {
	for line := range strings.Lines(output) {
		if _, _, ok := parse(line); ok {
			return true
		}
	}
	return false
}

// benchmarks are the benchmarks in a module's source, by their packages' import paths.
func benchmarks(t *testing.T, module string) map[string][]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...")
	list.Dir, list.Stderr = module, os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir, ImportPath           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, is := d.(*ast.FuncDecl); is && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Benchmark") {
					found[p.ImportPath] = append(found[p.ImportPath], f.Name.Name)
				}
			}
		}
	}
}

// runOnce runs the benchmarks of these packages. It returns which failed or were skipped, and the
// output of each, or of its package (""), by import path and name.
func runOnce(t *testing.T, module string, packages map[string][]string) (ended, output map[string]string) {
	t.Helper()
	args := []string{"test", "-json", "-short", "-run", "^$", "-bench", ".", "-benchtime", "1x", "-timeout", "10m"}
	for dir := range packages {
		args = append(args, dir)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Stderr = module, os.Stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	ended, output = map[string]string{}, map[string]string{}
	for events := json.NewDecoder(bytes.NewReader(out)); ; {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			return ended, output
		} else if err != nil {
			t.Fatal(err)
		}
		name, _, part := strings.Cut(e.Test, "/")
		built, _, _ := strings.Cut(e.ImportPath, " ") // the package for whose test it is built follows
		key := cmp.Or(e.Package, built) + "." + name
		switch {
		case e.Output != "":
			output[key] += e.Output
		case e.Action == "fail", e.Action == "skip" && !part && ended[key] == "":
			ended[key] = e.Action
		}
	}
}
