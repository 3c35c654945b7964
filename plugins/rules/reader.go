package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/mulligan-run/mulligan/failure"
)

// reader reads the nodes of a file and collects the problems.
type reader struct {
	src      *source
	problems Problems
	names    map[string]int // the lines of the rules' names

	env       *cel.Env // what expressions may refer to; nil = only the facts
	counters  []string
	receivers []string
}

func (r *reader) wrong(at place, format string, args ...any) {
	r.problems = append(r.problems, r.src.problem(at, format, args...))
}

// placeOf is where a node begins.
func placeOf(n ast.Node) place {
	if n == nil {
		return place{1, 1}
	}
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return placeOf(m.Values[0])
	}
	if pair, ok := n.(*ast.MappingValueNode); ok {
		n = pair.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{t.Position.Line, t.Position.Column}
	}
	return place{1, 1}
}

// fields are the entries of a mapping by key.
type fields struct {
	at      place
	by      map[string]ast.Node
	unknown bool // there are unknown keys, which were reported
}

// pairsOf returns the pairs of a mapping. A missing node has none; is is false for a node that is not
// a mapping.
func pairsOf(n ast.Node) (pairs []*ast.MappingValueNode, is bool) {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return nil, true
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// mapping reads a mapping with only the known keys; a missing node is an empty one.
func (r *reader) mapping(n ast.Node, what string, known ...string) (fields, bool) {
	f := fields{at: placeOf(n), by: map[string]ast.Node{}}
	pairs, is := pairsOf(n)
	if !is {
		r.wrong(f.at, "%s is %s, not fields like %s: …", what, kindOf(n), known[0])
		return f, false
	}
	for _, pair := range pairs {
		key, at := keyOf(pair), placeOf(pair.Key)
		if !slices.Contains(known, key) {
			r.wrong(at, "%s has no field %q%s", what, key, didYouMean(key, known))
			f.unknown = true
			continue
		}
		f.by[key] = pair.Value
	}
	return f, true
}

func keyOf(pair *ast.MappingValueNode) string {
	if text, ok := pair.Key.(*ast.StringNode); ok {
		return text.Value
	}
	return pair.Key.String()
}

// kindOf says what kind of node it is, for people.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "empty"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return "an anchor, alias or tag"
	}
	return "a value"
}

// list reads a list of at most that many entries.
func (r *reader) list(n ast.Node, what string, most int) []ast.Node {
	if n == nil {
		return nil
	}
	items, ok := n.(*ast.SequenceNode)
	switch {
	case !ok:
		r.wrong(placeOf(n), "%s is %s, not a list", what, kindOf(n))
		return nil
	case len(items.Values) > most:
		r.wrong(placeOf(items.Values[most]), "%s has %d entries, at most %d", what, len(items.Values), most)
		return nil
	}
	return items.Values
}

// scalar reads any scalar as text, including numbers and booleans.
func (r *reader) scalar(n ast.Node, what string) (scalar, bool) {
	at := placeOf(n)
	switch n := n.(type) {
	case *ast.StringNode:
		return scalar{n.Value, at, styleOf(n.Token)}, true
	case *ast.LiteralNode:
		return scalar{n.Value.Value, at, styleBlock}, true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		return scalar{n.GetToken().Value, at, styleBare}, true
	}
	r.wrong(at, "%s is %s, not a text", what, kindOf(n))
	return scalar{}, false
}

func styleOf(t *token.Token) style {
	switch t.Type {
	case token.SingleQuoteType:
		return styleSingle
	case token.DoubleQuoteType:
		return styleDouble
	}
	return styleBare
}

// text reads a text of at most that many bytes; a missing one is "".
func (r *reader) text(n ast.Node, what string, most int) string {
	if n == nil {
		return ""
	}
	s, ok := r.scalar(n, what)
	switch {
	case !ok:
		return ""
	case s.text == "":
		r.wrong(s.at, "%s is empty", what)
	case len(s.text) > most:
		r.wrong(s.at, "%s has %d bytes, at most %d", what, len(s.text), most)
	}
	return s.text
}

// flaws reports the errors in an expression that begins at character from of s.
func (r *reader) flaws(s scalar, flaws []flaw) {
	for _, f := range flaws {
		r.wrong(r.src.placeIn(s, f.at), "%s", f.text)
	}
}

// duration reads a duration from 0 to 7 days.
func (r *reader) duration(n ast.Node, what string, missing time.Duration) time.Duration {
	if n == nil {
		return missing
	}
	s, ok := r.scalar(n, what)
	if !ok {
		return missing
	}
	d, err := time.ParseDuration(s.text)
	switch {
	case err != nil:
		r.wrong(s.at, "%s: %q is not a duration like 500ms, 2s or 1m30s", what, s.text)
	case d < 0 || d > failure.MaxDelay.Duration():
		r.wrong(s.at, "%s: %s is not between 0s and 7 days", what, s.text)
	}
	return d
}

func (r *reader) boolean(n ast.Node, what string, missing bool) bool {
	switch n := n.(type) {
	case nil:
		return missing
	case *ast.BoolNode:
		return n.Value
	}
	r.wrong(placeOf(n), "%s is neither true nor false", what)
	return missing
}

// number reads a number between two others.
func (r *reader) number(n ast.Node, what string, least, most, missing float64) float64 {
	if n == nil {
		return missing
	}
	s, ok := r.scalar(n, what)
	if !ok {
		return missing
	}
	v, err := strconv.ParseFloat(s.text, 64)
	if err != nil || !(v >= least && v <= most) {
		r.wrong(s.at, "%s: %s is not a number between %s and %s", what, s.text, decimal(least), decimal(most))
		return missing
	}
	return v
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// choice reads one of a few words.
func (r *reader) choice(n ast.Node, what, missing string, there []string) string {
	if n == nil {
		return missing
	}
	s, ok := r.scalar(n, what)
	if ok && !slices.Contains(there, s.text) {
		r.wrong(s.at, "%s: %q is not known%s", what, s.text, didYouMean(s.text, there))
		return missing
	}
	return s.text
}

// model reads the full name of a model.
func (r *reader) model(n ast.Node, what string) string {
	s, ok := r.scalar(n, what)
	if !ok {
		return ""
	}
	if err := checkModel(s.text); err != nil {
		r.wrong(s.at, "%s: %v", what, err)
	}
	return s.text
}

func checkModel(name string) error {
	provider, model, ok := strings.Cut(name, "/")
	if !ok || provider == "" || model == "" || len(name) > maxModel {
		return fmt.Errorf("%q is not the full name of a model, provider/model", name)
	}
	return nil
}
