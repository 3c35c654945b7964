package rules

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
)

// deadRule is a rule that never decides.
type deadRule struct {
	Rule *rule
	Why  string
}

// unreachable finds rules that never decide, as far as their form shows: they
// contradict themselves, or an earlier rule matches whenever they do. A rule with a
// switch hides none, because it leaves the decision to later rules if no model is
// left.
func (rs *Rules) unreachable() []deadRule {
	var found []deadRule
	var earlier []demands
	for _, r := range rs.Rules {
		d := demandsOf(r)
		if why := d.unmet(earlier); why != "" {
			found = append(found, deadRule{r, why})
			continue
		}
		if _, mayPass := r.action.(switchAction); !mayPass && r.action != nil {
			earlier = append(earlier, d)
		}
	}
	return found
}

// demands are the parts of a condition, all of which must hold.
type demands struct {
	rule   *rule
	never  bool
	kinds  []string // values that failure.kind may have; nil = any
	others []string // the rest, as CEL writes it
}

func demandsOf(r *rule) demands {
	d := demands{rule: r}
	info := r.when.checked.NativeRep().SourceInfo()
	for _, part := range conjuncts(r.when.root()) {
		if part.Kind() == celast.LiteralKind {
			d.never = d.never || part.AsLiteral().Value() == false
			continue
		}
		if kinds := kindsOf(part); kinds != nil {
			d.narrow(kinds)
			continue
		}
		text, err := cel.ExprToString(part, info)
		if err != nil {
			text = fmt.Sprintf("unlike any other: rule %d", r.Number)
		}
		d.others = append(d.others, text)
	}
	return d
}

func conjuncts(e celast.Expr) []celast.Expr {
	if e.Kind() != celast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []celast.Expr{e}
	}
	var parts []celast.Expr
	for _, arg := range e.AsCall().Args() {
		parts = append(parts, conjuncts(arg)...)
	}
	return parts
}

// kindsOf are the values that this part of a condition allows for failure.kind; nil =
// all.
func kindsOf(e celast.Expr) []string {
	fact, words := comparison(e)
	if fact != "failure.kind" || e.AsCall().FunctionName() == operators.NotEquals {
		return nil
	}
	kinds := []string{}
	for _, word := range words {
		text, _ := word.AsLiteral().Value().(string)
		kinds = append(kinds, text)
	}
	return kinds
}

func (d *demands) narrow(kinds []string) {
	if d.kinds != nil {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return !slices.Contains(d.kinds, k) })
	}
	d.kinds = kinds
	d.never = d.never || len(kinds) == 0
}

// unmet says why d never decides after the earlier rules, or "".
func (d demands) unmet(earlier []demands) string {
	if d.never {
		return "its condition never holds"
	}
	var covered []string
	for _, e := range earlier {
		if d.include(e) {
			return fmt.Sprintf("%s on line %d matches whenever it does", e.rule, e.rule.Line)
		}
		if len(e.others) == 0 {
			covered = append(covered, e.kinds...)
		}
	}
	if d.kinds != nil && subset(d.kinds, covered) {
		return "earlier rules match for each of its kinds of failure"
	}
	return ""
}

// include reports whether d demands everything that e demands, so that e holds whenever d
// does.
func (d demands) include(e demands) bool {
	return subset(e.others, d.others) && (e.kinds == nil || d.kinds != nil && subset(d.kinds, e.kinds))
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}
