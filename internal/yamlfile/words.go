package yamlfile

import (
	"errors"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

const (
	needsFields = "fields belong here, each as name: value"
	needsList   = "a list belongs here, such as [one, two]"
	needsText   = "a text belongs here"
	needsBool   = "true or false belongs here"
	needsWhole  = "a whole number belongs here"
	needsNumber = "a number belongs here"
	isTooLarge  = "this number is too large"
	needsSpaces = "a tab cannot indent a line: write spaces"
)

// reworded is an error of the decoder that says what belongs there in the words of people who
// write YAML, not in Go's.
func reworded(err error, into any) error {
	if e, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		return suggesting(e, into)
	}
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		return &yaml.SyntaxError{Message: needOf(e.DstType), Token: e.Token}
	}
	if e, ok := errors.AsType[*yaml.UnexpectedNodeTypeError](err); ok {
		return &yaml.SyntaxError{Message: needOfNode(e.Expected), Token: e.Token}
	}
	if e, ok := errors.AsType[*yaml.OverflowError](err); ok {
		return &yaml.SyntaxError{Message: isTooLarge, Token: e.Token}
	}
	if e, ok := errors.AsType[*yaml.SyntaxError](err); ok && strings.HasPrefix(e.Message, "found character '\t'") {
		return &yaml.SyntaxError{Message: needsSpaces, Token: e.Token}
	}
	return err
}

// needOf is how a value of a Go type is written.
func needOf(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.Slice, k == reflect.Array:
		return needsList
	case k == reflect.String:
		return needsText
	case k == reflect.Bool:
		return needsBool
	case k >= reflect.Int && k <= reflect.Uintptr:
		return needsWhole
	case k == reflect.Float32, k == reflect.Float64:
		return needsNumber
	default:
		return needsFields
	}
}

// needOfNode is how a YAML node is written.
func needOfNode(t ast.NodeType) string {
	switch t {
	case ast.SequenceType:
		return needsList
	case ast.StringType:
		return needsText
	case ast.BoolType:
		return needsBool
	case ast.IntegerType:
		return needsWhole
	case ast.FloatType:
		return needsNumber
	default:
		return needsFields
	}
}
