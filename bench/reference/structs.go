package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// structure is a struct type, with its fields as they are written in YAML or JSON.
type structure struct {
	name, doc string
	fields    []field
}

type field struct {
	key, doc string
	holds    ast.Expr
}

// structures are the structs of the package in the folder, by name. A field without a key in tag
// ("yaml" or "json") is left out; an embedded field has the key "".
func structures(folder, tag string) (map[string]structure, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	all := map[string]structure{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			types, ok := d.(*ast.GenDecl)
			if !ok || types.Tok != token.TYPE {
				continue
			}
			for _, s := range types.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if of, ok := spec.Type.(*ast.StructType); ok {
					all[spec.Name.Name] = structure{spec.Name.Name, oneLine(types.Doc, spec.Doc), fieldsOf(of, tag)}
				}
			}
		}
	}
	return all, nil
}

func fieldsOf(s *ast.StructType, tag string) (fields []field) {
	for _, f := range s.Fields.List {
		if f.Tag == nil && len(f.Names) > 0 {
			continue
		}
		key := ""
		if f.Tag != nil {
			text, err := strconv.Unquote(f.Tag.Value)
			if err != nil {
				continue
			}
			key, _, _ = strings.Cut(reflect.StructTag(text).Get(tag), ",")
			if key == "" || key == "-" {
				continue
			}
		}
		fields = append(fields, field{key, oneLine(f.Comment, f.Doc), f.Type})
	}
	return fields
}

// oneLine is the text of the first comment that has any.
func oneLine(comments ...*ast.CommentGroup) string {
	for _, c := range comments {
		if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

// inWords describes what a type holds for somebody who writes it in YAML or JSON, and names its
// structure, if there is one.
func inWords(holds ast.Expr, all map[string]structure) (words, of string) {
	switch t := holds.(type) {
	case *ast.StarExpr:
		return inWords(t.X, all)
	case *ast.ArrayType:
		words, of = inWords(t.Elt, all)
		return "a list of " + words, of
	case *ast.MapType:
		words, of = inWords(t.Value, all)
		return words + " by name", of
	case *ast.SelectorExpr:
		return word(t.Sel.Name), ""
	case *ast.Ident:
		if _, ok := all[t.Name]; ok {
			return t.Name, t.Name
		}
		return word(t.Name), ""
	}
	return "anything", ""
}

func word(name string) string {
	switch name {
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "int", "int64", "uint64", "float64":
		return "number"
	case "any", "RawMessage":
		return "anything"
	case "Time":
		return "time"
	case "Millis":
		return "milliseconds"
	}
	return name
}

// table has the fields as rows; a field with a structure of its own links to its heading.
func table(s structure, all map[string]structure, column string) string {
	var b strings.Builder
	b.WriteString("| " + column + " | holds | |\n|---|---|---|\n")
	for _, f := range s.fields {
		words, of := inWords(f.holds, all)
		if of != "" {
			words = strings.Replace(words, of, "["+of+"](#"+strings.ToLower(of)+")", 1)
		}
		b.WriteString("| `" + f.key + "` | " + words + " | " + cell(f.doc) + " |\n")
	}
	return b.String()
}

// cell escapes text for a table: it ends no column and begins no tag.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "[", `\[`, "_", `\_`).Replace(text)
}
