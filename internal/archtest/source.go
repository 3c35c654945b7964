package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// house is the module whose rooms the plan is about. Module bench lies below it.
const house = "github.com/mulligan-run/mulligan"

// listed is what the go command says about a package.
type listed struct {
	Dir, Name, ImportPath                                        string
	GoFiles, CgoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles []string
}

// Load lists the packages of the module that holds dir, relative to the house's. Files of other
// platforms count too: an import is no better for being made on macOS only.
func Load(ctx context.Context, dir string) ([]Package, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=Dir,Name,ImportPath,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var pkgs []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		pkg, err := l.load()
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, pkg)
	}
}

func (l listed) load() (Package, error) {
	pkg := Package{Path: relative(l.ImportPath)}
	for _, name := range slices.Concat(l.GoFiles, l.CgoFiles, l.IgnoredGoFiles, l.TestGoFiles, l.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(l.Dir, name), nil, parser.ImportsOnly)
		if err != nil {
			return Package{}, err
		}
		if strings.TrimSuffix(file.Name.Name, "_test") != l.Name {
			continue // a program of its own behind a build tag, such as a generator
		}
		pkg.Files = append(pkg.Files, name)
		for _, spec := range file.Imports {
			pkg.Imports = append(pkg.Imports, l.edge(pkg.Path, name, spec))
		}
	}
	return pkg, nil
}

func (l listed) edge(from, file string, spec *ast.ImportSpec) Import {
	to := importPath(spec)
	ours := to == house || strings.HasPrefix(to, house+"/")
	if ours {
		to = relative(to)
	}
	return Import{From: from, To: to, File: path.Join(from, file), Ours: ours, Test: !isCode(file)}
}

// relative gives "recovery" for the recovery package and "." for the house's own root.
func relative(pkg string) string {
	if pkg == house {
		return "."
	}
	return strings.TrimPrefix(pkg, house+"/")
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic("the parser let a bad import path through: " + err.Error())
	}
	return p
}

// clockReaders are the functions of package time that ask or wait for the real clock.
var clockReaders = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTicker", "NewTimer"}

// CheckClock finds every use of the real clock in a file. The file name is for the message; src is
// as for [parser.ParseFile].
func CheckClock(name string, src any) ([]Violation, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	clock := localName(file, "time")
	var found []Violation
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(clockReaders, sel.Sel.Name) {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == clock {
			found = append(found, Violation{
				What: fmt.Sprintf("%s:%d uses time.%s", name, fset.Position(sel.Pos()).Line, sel.Sel.Name),
				Why:  "time passes in the heart only by events (Due), or a log would not replay to the same decisions",
			})
		}
		return true
	})
	return found, nil
}

// localName is the name a file knows a package by, empty if it does not import it. A dot import
// counts as none; the linter refuses those.
func localName(file *ast.File, pkg string) string {
	for _, spec := range file.Imports {
		if importPath(spec) != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}
