package rules

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Limits on an expression.
const (
	maxExpression = 4 << 10 // bytes
	maxRecursion  = 50
	costLimit     = 100_000 // a few milliseconds; an ordinary condition costs less than 100
)

// expression is a checked CEL expression.
type expression struct {
	text    string
	checked *cel.Ast
	program cel.Program
}

// objects are the types that facts have besides CEL's own, by their CEL names.
var objects = map[string]*types.NativeTypeDesc{
	"Failure":     nativeType[Failure]("Failure"),
	"Remaining":   nativeType[Remaining]("Remaining"),
	"Alternative": nativeType[Alternative]("Alternative"),
	"Tried":       nativeType[Tried]("Tried"),
	"Spent":       nativeType[Spent]("Spent"),
}

func nativeType[T any](name string) *types.NativeTypeDesc {
	return types.NativeTypeFor[T](types.NativeTypeAlias(name), types.ParseStructTag("yaml"))
}

// environment declares the facts to CEL, once.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.ParserExpressionSizeLimit(maxExpression), cel.ParserRecursionLimit(maxRecursion), cel.DefaultUTCTimeZone(true),
	}
	for _, object := range objects {
		options = append(options, cel.Types(object))
	}
	for i := range reflect.TypeFor[Facts]().NumField() {
		field := reflect.TypeFor[Facts]().Field(i)
		options = append(options, cel.Variable(nameOf(field), celType(field.Type)))
	}
	return cel.NewEnv(options...)
})

// celType is the CEL type for a Go type in Facts.
func celType(t reflect.Type) *cel.Type {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return cel.DurationType
	case t == reflect.TypeFor[time.Time]():
		return cel.TimestampType
	}
	switch t.Kind() {
	case reflect.Map:
		return cel.MapType(celType(t.Key()), celType(t.Elem()))
	case reflect.Slice:
		return cel.ListType(celType(t.Elem()))
	case reflect.Struct:
		return cel.ObjectType(t.Name())
	case reflect.Bool:
		return cel.BoolType
	case reflect.Int, reflect.Int64:
		return cel.IntType
	case reflect.Float64:
		return cel.DoubleType
	default:
		return cel.StringType
	}
}

// flaw is an error in an expression, at character at.
type flaw struct {
	at   int
	text string
}

// compile checks an expression against the facts that every file has.
func compile(text string) (*expression, []flaw) {
	env, err := environment()
	if err != nil {
		return nil, []flaw{{0, err.Error()}}
	}
	return compileIn(env, text)
}

// compileIn checks an expression. The caller checks the type of its value.
func compileIn(env *cel.Env, text string) (*expression, []flaw) {
	if len(text) > maxExpression {
		return nil, []flaw{{0, fmt.Sprintf("this expression has %d bytes, at most %d", len(text), maxExpression)}}
	}
	checked, issues := env.Compile(text)
	if flaws := flawsOf(text, issues); len(flaws) > 0 {
		return nil, flaws
	}
	if flaws := wrongWords(checked.NativeRep()); len(flaws) > 0 {
		return nil, flaws
	}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	if loops(checked.NativeRep()) {
		options = append(options, cel.CostLimit(costLimit))
	}
	program, err := env.Program(checked, options...)
	if err != nil {
		return nil, []flaw{{0, err.Error()}}
	}
	return &expression{text, checked, program}, nil
}

// loops reports whether an expression iterates over lists; if not, limiting its length
// limits its cost.
func loops(tree *celast.AST) bool {
	found := false
	celast.PostOrderVisit(tree.Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		found = found || e.Kind() == celast.ComprehensionKind
	}))
	return found
}

// reads reports whether the expression uses a field of a fact.
func (x *expression) reads(fact, field string) bool {
	found := false
	celast.PostOrderVisit(x.root(), celast.NewExprVisitor(func(e celast.Expr) {
		if e.Kind() == celast.SelectKind && e.AsSelect().FieldName() == field && e.AsSelect().Operand().Kind() == celast.IdentKind {
			found = found || e.AsSelect().Operand().AsIdent() == fact
		}
	}))
	return found
}

// names reports whether the expression refers to a fact, or to a definition of the file.
func (x *expression) names(name string) bool {
	found := false
	celast.PostOrderVisit(x.root(), celast.NewExprVisitor(func(e celast.Expr) {
		found = found || e.Kind() == celast.IdentKind && e.AsIdent() == name
	}))
	return found
}

// root is the root of the expression's syntax tree.
func (x *expression) root() celast.Expr { return x.checked.NativeRep().Expr() }

// value evaluates the expression. CEL should not panic, but if it does, that is an
// error.
func (x *expression) value(in *scope) (v ref.Val, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	v, _, err = x.program.Eval(in)
	return v, err
}

// holds evaluates a condition.
func (x *expression) holds(in *scope) (bool, error) {
	v, err := x.value(in)
	if err != nil {
		return false, err
	}
	yes, ok := v.Value().(bool)
	if !ok {
		return false, errors.New("it is neither true nor false")
	}
	return yes, nil
}
