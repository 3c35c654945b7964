package rules

import (
	"fmt"
	"slices"
	"strings"

	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"

	"github.com/mulligan-run/mulligan/failure"
)

// vocabulary lists the words for facts that only have certain values. Comparing such a
// fact with another word is never true, and so a mistake.
var vocabulary = map[string][]string{
	"failure.kind":   kindNames(),
	"failure.code":   codeNames(),
	"failure.origin": {"model", "tool", "prompt", "hook", "runner"},
	"failure.phase":  {"prompt", "before_connect", "before_first_event", "mid_stream", "end_of_stream", "tool"},
	"failure.timer":  {"", "connect", "first_event", "bytes", "idle", "step", "max_turn", "run", "tool"},
	"replay_safety":  {"safe", "unsafe", "unknown"},
}

func kindNames() []string {
	var names []string
	for _, kind := range failure.Kinds() {
		names = append(names, string(kind))
	}
	return names
}

// CheckKind says what is wrong with the name of a kind of failure.
func CheckKind(name string) error {
	if names := kindNames(); !slices.Contains(names, name) {
		return fmt.Errorf("%q is not a kind of failure%s", name, didYouMean(name, names))
	}
	return nil
}

func codeNames() []string {
	var names []string
	for _, kind := range failure.Kinds() {
		if code := string(kind.Code()); !slices.Contains(names, code) {
			names = append(names, code)
		}
	}
	return names
}

// wrongWords finds words that a fact is compared with, but that it never has.
func wrongWords(tree *celast.AST) []flaw {
	var flaws []flaw
	celast.PostOrderVisit(tree.Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		fact, words := comparison(e)
		there, known := vocabulary[fact]
		if !known {
			return
		}
		for _, word := range words {
			text, _ := word.AsLiteral().Value().(string)
			if !slices.Contains(there, text) {
				at := tree.SourceInfo().GetStartLocation(word.ID())
				offset := int(tree.SourceInfo().ComputeOffset(int32(at.Line()), int32(at.Column()))) //nolint:gosec // an expression is short
				flaws = append(flaws, flaw{offset, fmt.Sprintf("%s is never %q%s", fact, text, didYouMean(text, there))})
			}
		}
	}))
	return flaws
}

// unknownCounters finds counters that an expression uses and the file does not define.
func unknownCounters(tree *celast.AST, there []string) []flaw {
	var flaws []flaw
	celast.PostOrderVisit(tree.Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		name, isCounter := strings.CutPrefix(pathOf(e), "counts.")
		if !isCounter || slices.Contains(there, name) {
			return
		}
		at := tree.SourceInfo().GetStartLocation(e.ID())
		offset := int(tree.SourceInfo().ComputeOffset(int32(at.Line()), int32(at.Column()))) //nolint:gosec // an expression is short
		flaws = append(flaws, flaw{offset, fmt.Sprintf("there is no counter %q under counters%s", name, didYouMean(name, there))})
	}))
	return flaws
}

// comparison takes apart fact == "word", fact != "word" and fact in [words]; fact is
// "" for any other expression.
func comparison(e celast.Expr) (fact string, words []celast.Expr) {
	if e.Kind() != celast.CallKind || len(e.AsCall().Args()) != 2 {
		return "", nil
	}
	left, right := e.AsCall().Args()[0], e.AsCall().Args()[1]
	switch e.AsCall().FunctionName() {
	case operators.Equals, operators.NotEquals:
		if pathOf(left) == "" {
			left, right = right, left
		}
		words = []celast.Expr{right}
	case operators.In:
		if right.Kind() != celast.ListKind {
			return "", nil
		}
		words = right.AsList().Elements()
	default:
		return "", nil
	}
	for _, word := range words {
		if word.Kind() != celast.LiteralKind {
			return "", nil
		}
		if _, ok := word.AsLiteral().Value().(string); !ok {
			return "", nil
		}
	}
	return pathOf(left), words
}

// pathOf is a name, or a field of one: "attempt", "failure.kind"; otherwise "".
func pathOf(e celast.Expr) string {
	switch e.Kind() {
	case celast.IdentKind:
		return e.AsIdent()
	case celast.SelectKind:
		if operand := e.AsSelect().Operand(); operand.Kind() == celast.IdentKind && !e.AsSelect().IsTestOnly() {
			return operand.AsIdent() + "." + e.AsSelect().FieldName()
		}
	}
	return ""
}
