package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Surface is what a package exports to programs outside of this repository.
type Surface struct {
	Path  string   // relative to the house
	Names []string // that are exported, as "Name" or, of an exported type, "Type.Method"
}

// generated rooms are written by tools.
const generated = "proto/..."

// isPublic reports whether a package may be imported from outside and is written by hand.
func isPublic(pkg string) bool {
	return !slices.ContainsFunc([]string{"cmd/...", "bench/...", generated}, func(pattern string) bool { return matches(pattern, pkg) }) &&
		!slices.Contains(strings.Split(pkg, "/"), "internal")
}

// Surfaces are those of the public packages; their module is at root.
func Surfaces(root string, pkgs []Package) ([]Surface, error) {
	var all []Surface
	for _, pkg := range pkgs {
		if !isPublic(pkg.Path) {
			continue
		}
		names := map[string]bool{}
		for _, name := range pkg.Files {
			if !isCode(name) {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, pkg.Path, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			if file.Name.Name != "main" {
				addExported(names, file)
			}
		}
		if len(names) > 0 {
			all = append(all, Surface{Path: pkg.Path, Names: slices.Sorted(maps.Keys(names))})
		}
	}
	return all, nil
}

// addExported adds the exported names of a file.
func addExported(names map[string]bool, file *ast.File) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			switch of := receiver(d); {
			case !d.Name.IsExported():
			case d.Recv == nil:
				names[d.Name.Name] = true
			case ast.IsExported(of):
				names[of+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				for _, name := range declared(spec) {
					if name.IsExported() {
						names[name.Name] = true
					}
				}
			}
		}
	}
}

func declared(spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}
	case *ast.ValueSpec:
		return s.Names
	}
	return nil
}

// receiver is the name of the type that a method is of, "" if it is a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}
