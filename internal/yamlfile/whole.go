package yamlfile

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// findFraction finds a number with a fraction where a whole one belongs: the decoder would cut the
// fraction off without a word.
func findFraction(source []byte, into any) error {
	file, err := parser.ParseBytes(source, 0)
	if err != nil || len(file.Docs) == 0 {
		return err
	}
	f := fractions{map[string]ast.Node{}, map[place]bool{}}
	return f.in(file.Docs[0].Body, reflect.TypeOf(into))
}

// untyped is the type of what may be any number. An anchor in it may be meant elsewhere all the same.
var untyped = reflect.TypeFor[any]()

// fractions looks for fractions in a document.
type fractions struct {
	anchors map[string]ast.Node // met so far, by their names
	seen    map[place]bool      // so that aliases of aliases are looked at once
}

// place is a node that is decoded into a type.
type place struct {
	node ast.Node
	t    reflect.Type
}

// in looks for one in a node that is decoded into a t.
func (f fractions) in(node ast.Node, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := node.(type) {
	case *ast.FloatNode, *ast.StringNode: // 1e-1 is a text to the parser, and a number to the decoder
		x, err := strconv.ParseFloat(n.GetToken().Value, 64)
		if k := t.Kind(); err == nil && k >= reflect.Int && k <= reflect.Uintptr && x != math.Trunc(x) {
			return &yaml.SyntaxError{Message: needsWhole, Token: n.GetToken()}
		}
	case *ast.AnchorNode:
		f.anchors[n.Name.GetToken().Value] = n.Value
		return f.in(n.Value, t)
	case *ast.AliasNode:
		meant := f.anchors[n.Value.GetToken().Value]
		if at := (place{meant, t}); meant != nil && !f.seen[at] {
			f.seen[at] = true
			return f.in(meant, t)
		}
	case *ast.SequenceNode:
		return f.inList(n, t)
	case ast.MapNode:
		return f.inFields(n, t)
	}
	return nil
}

func (f fractions) inList(n *ast.SequenceNode, t reflect.Type) error {
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	} else {
		t = untyped
	}
	for _, v := range n.Values {
		if err := f.in(v, t); err != nil {
			return err
		}
	}
	return nil
}

func (f fractions) inFields(n ast.MapNode, t reflect.Type) error {
	for i := n.MapRange(); i.Next(); {
		of := typeOf(t, i.Key().GetToken().Value)
		if i.Key().IsMergeKey() { // what is merged has the same fields
			of = t
		}
		if of == nil {
			of = untyped
		}
		if err := f.in(i.Value(), of); err != nil {
			return err
		}
	}
	return nil
}

// typeOf is the type of what stands under a key in a t; nil if that decodes itself.
func typeOf(t reflect.Type, key string) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name == key {
				return f.Type
			}
		}
	}
	return nil
}
