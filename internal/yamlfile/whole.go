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
	return fractionIn(file.Docs[0].Body, reflect.TypeOf(into))
}

// fractionIn looks for one in a node that is decoded into a t.
func fractionIn(node ast.Node, t reflect.Type) error {
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
		return fractionIn(n.Value, t)
	case *ast.SequenceNode:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return nil
		}
		for _, v := range n.Values {
			if err := fractionIn(v, t.Elem()); err != nil {
				return err
			}
		}
	case ast.MapNode:
		for i := n.MapRange(); i.Next(); {
			of := typeOf(t, i.Key().GetToken().Value)
			if of == nil {
				continue
			}
			if err := fractionIn(i.Value(), of); err != nil {
				return err
			}
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
