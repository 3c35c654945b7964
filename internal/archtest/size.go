package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

// The most lines that a file and a function may have.
const (
	maxFile = 400
	maxFunc = 60
)

const (
	longFile = "a file is one concept, and is read in one sitting: find the second one in it"
	longFunc = "a function is a screenful; a table in it is a value of its own, a step of it a function with a name"
)

// CheckSize finds what is too long in a file that people write: the file, its functions, and the
// functions within them. The file name is for the message; src is as for [parser.ParseFile].
func CheckSize(name string, src any) ([]Violation, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	found := checkLines(name, fset.File(file.FileStart).LineCount())
	ast.Inspect(file, func(n ast.Node) bool {
		var of ast.Node
		what := "a function"
		switch f := n.(type) {
		case *ast.FuncDecl:
			of, what = f, f.Name.Name
		case *ast.FuncLit:
			of = f
		default:
			return true
		}
		from, to := fset.Position(of.Pos()).Line, fset.Position(of.End()).Line
		if lines := to - from + 1; lines > maxFunc {
			found = append(found, Violation{fmt.Sprintf("%s:%d: %s has %d lines, and %d are the most", name, from, what, lines, maxFunc), longFunc})
		}
		return true
	})
	return found, nil
}

func checkLines(name string, lines int) []Violation {
	if lines <= maxFile {
		return nil
	}
	return []Violation{{fmt.Sprintf("%s has %d lines, and %d are the most", name, lines, maxFile), longFile}}
}

// CheckForeignSize finds that a file of another language is too long. A first line that says that the
// file is generated exempts it.
func CheckForeignSize(name string, src []byte) []Violation {
	head, _, _ := bytes.Cut(src, []byte("\n"))
	if bytes.Contains(head, []byte("generated")) {
		return nil
	}
	lines := bytes.Count(src, []byte("\n"))
	if len(src) > 0 && src[len(src)-1] != '\n' {
		lines++
	}
	return checkLines(name, lines)
}
