package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// function is a function or a method: where it is, its name, and what it uses.
type function struct {
	dir, name string
	test      bool // go test runs it
	asks      bool // it calls testing.Short, itself or through what it uses
	uses      map[string]bool
}

// find returns the tests that ask testing.Short, by the folders of their packages.
func find(repository fs.FS) (map[string][]string, error) {
	all, err := functions(repository)
	if err != nil {
		return nil, err
	}
	return longTests(all), nil
}

// longTests is find among these functions.
func longTests(all []*function) map[string][]string {
	// A function that uses one that asks, asks too; repeat until nothing changes.
	for known, more := map[string]bool{}, true; more; {
		more = false
		for _, f := range all {
			f.asks = f.asks || f.usesOneOf(known)
			if f.asks && !known[f.dir+"."+f.name] {
				known[f.dir+"."+f.name], more = true, true
				if !f.test && ast.IsExported(f.name) {
					known[path.Base(f.dir)+"."+f.name] = true
				}
			}
		}
	}
	found := map[string][]string{}
	for _, f := range all {
		if f.test && f.asks {
			found[f.dir] = append(found[f.dir], f.name)
		}
	}
	return found
}

// usesOneOf reports whether f uses a known name: one of the same package, or pkg.Name of another
// package.
func (f *function) usesOneOf(known map[string]bool) bool {
	for name := range f.uses {
		if known[name] || known[f.dir+"."+name] {
			return true
		}
	}
	return false
}

// functions parses every Go file.
func functions(repository fs.FS) (all []*function, err error) {
	err = fs.WalkDir(repository, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "target"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if d, is := d.(*ast.FuncDecl); is && d.Body != nil {
				all = append(all, read(path.Dir(name), strings.HasSuffix(name, "_test.go"), d))
			}
		}
		return nil
	})
	return all, err
}

func read(dir string, testFile bool, d *ast.FuncDecl) *function {
	f := &function{dir: dir, name: d.Name.Name, uses: map[string]bool{}}
	f.test = testFile && d.Recv == nil && strings.HasPrefix(f.name, "Test") && f.name != "TestMain"
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			f.uses[n.Sel.Name] = true
			if x, is := n.X.(*ast.Ident); is {
				f.uses[x.Name+"."+n.Sel.Name] = true
			}
		case *ast.Ident:
			f.uses[n.Name] = true
		}
		return true
	})
	f.asks = f.uses["testing.Short"]
	return f
}
