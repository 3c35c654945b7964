package rules

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/mulligan-run/mulligan/recovery"
)

// restrict reads what a rule forbids; nil = nothing.
func (r *reader) restrict(n ast.Node) *recovery.Restrict {
	if n == nil {
		return nil
	}
	f, _ := r.mapping(n, "restrict", "never", "max_output_price", "local")
	x := recovery.Restrict{Local: r.boolean(f.by["local"], "local", false)}
	for _, item := range r.list(f.by["never"], "never", recovery.MaxNever) {
		x.Never = append(x.Never, r.model(item, "never"))
	}
	const most, micros = 1e6, 1e6
	x.MaxOutputPrice = int64(r.number(f.by["max_output_price"], "max_output_price", 1/micros, most, 0) * micros)
	if x.InWords() == "" && !f.unknown {
		r.wrong(f.at, "restrict forbids nothing: give it never, max_output_price or local")
	}
	return &x
}

// both forbids everything that a or b forbids.
func both(a, b *recovery.Restrict) *recovery.Restrict {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	x := recovery.Restrict{Local: a.Local || b.Local, MaxOutputPrice: a.MaxOutputPrice}
	if b.MaxOutputPrice > 0 && (x.MaxOutputPrice == 0 || b.MaxOutputPrice < x.MaxOutputPrice) {
		x.MaxOutputPrice = b.MaxOutputPrice
	}
	for _, name := range append(slices.Clone(a.Never), b.Never...) {
		if !slices.Contains(x.Never, name) && len(x.Never) < recovery.MaxNever {
			x.Never = append(x.Never, name)
		}
	}
	return &x
}

// matches reports whether a name, of a model or of all models of an entry as in openai/*, matches
// model.
func matches(name, model string) bool {
	entry, all := strings.CutSuffix(name, "*")
	return name == model || all && strings.HasSuffix(entry, "/") && strings.HasPrefix(model, entry)
}
