package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/recovery"
)

// Route says who answers the calls of a model.
type Route struct {
	// Match is the model's name in the caller's words; each * in it stands for anything.
	Match string
	// Models are asked in this order, by their full names, provider/model. $model is the model
	// that the caller asks for, $provider the provider whose wire the caller speaks.
	Models []string
	Mode   Mode // "" = ModeContinue
	// AutoRecover = false leaves decisions to persons; if nobody can be asked, the caller gets the
	// failure at once.
	AutoRecover bool
	Keep        recovery.Keeping // which contents of the calls are stored; see New
	// LocalOnly keeps contents on this machine: only models on it are asked.
	LocalOnly bool
	// CallersKey sends the credential that the caller sends in addition to X-Mulligan-Token to the
	// route's first provider, if that speaks the caller's wire, and to nobody else.
	CallersKey bool
}

// maxRouteModels bounds what one call may try.
const maxRouteModels = 16

func (r Route) check() error {
	switch {
	case r.Match == "":
		return fmt.Errorf("it matches nothing: say match, for example \"*\"")
	case len(r.Models) == 0 || len(r.Models) > maxRouteModels:
		return fmt.Errorf("it has %d models, and not 1 to %d", len(r.Models), maxRouteModels)
	case !slices.Contains([]Mode{ModeContinue, ModeHold, ModeError}, r.Mode):
		return fmt.Errorf("mode %q is none of continue, hold, error", r.Mode)
	}
	for _, m := range r.Models {
		if entry, model, ok := strings.Cut(m, "/"); !ok || entry == "" || model == "" {
			return fmt.Errorf("%q is not provider/model", m)
		}
	}
	return nil
}

// fits reports whether a model's name matches.
func (r Route) fits(model string) bool { return match(r.Match, model) }

// asksForModel reports whether the route asks a model that its caller names.
func (r Route) asksForModel() bool {
	return slices.ContainsFunc(r.Models, func(m string) bool { return strings.Contains(m, "$model") })
}

// match matches a name against a pattern, in time at most the product of their lengths.
func match(pattern, name string) bool {
	star, mark := -1, 0
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// modelsFor are the models of the route for a caller on that wire who asks for model.
func (r Route) modelsFor(d *dialect, model string) []string {
	var list []string
	for _, m := range r.Models {
		name := strings.ReplaceAll(m, "$provider", d.entry)
		name = strings.ReplaceAll(name, "$model", model) // last, since the caller's words may contain $provider
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
