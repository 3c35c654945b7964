package recovery

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
)

// A plugin's advice may be taken or not, but what it forbids holds. The restrictions of all plugins
// hold together, before anybody's advice is considered, and for every way to another model call. A
// plugin's restriction is what it last said about the run: its next answer replaces it, and a
// plugin that fails or gives no answer leaves it as it was.

// Limits of a restriction.
const (
	MaxNever      = 64  // models and entries that it may name
	maxForbidding = 256 // bytes of its reason that are kept
)

// Restrict is what a plugin forbids a run. Zero fields forbid nothing.
type Restrict struct {
	// Never lists models, by their full names, and entries, as in "openai/*".
	Never []string `json:"never,omitempty"`
	// MaxOutputPrice is the most that a million output tokens may cost, in microdollars; 0 for any
	// price. A model without a known price counts as too expensive.
	MaxOutputPrice int64 `json:"maxOutputPrice,omitempty"`
	// Local allows only models that run on this machine.
	Local bool `json:"local,omitempty"`
}

// InWords lists what is forbidden: "openai/*, models that are not on this machine"; "" if nothing
// is.
func (x *Restrict) InWords() string {
	if x == nil {
		return ""
	}
	list := slices.Clone(x.Never)
	if x.MaxOutputPrice > 0 {
		list = append(list, "models of more than "+words.Dollars(x.MaxOutputPrice)+" per million output tokens")
	}
	if x.Local {
		list = append(list, "models that are not on this machine")
	}
	return strings.Join(list, ", ")
}

// Restriction is a restriction that holds, and who said it.
type Restriction struct {
	Plugin string `json:"plugin"`
	Restrict
	Reason string `json:"reason,omitempty"` // in the plugin's words
	// ThisCall: the model was refused before a call, until there is an answer.
	ThisCall bool `json:"thisCall,omitempty"`
}

// lacks says why the restriction forbids a model, in words that follow the model's name; "" if it
// does not.
func (x *Restriction) lacks(p *Policy, model string) string {
	var because string
	switch price, priced := p.Prices[model]; {
	case slices.ContainsFunc(x.Never, func(name string) bool { return names(name, model) }):
		because = "is not allowed"
	case x.Local && !slices.Contains(p.Local, model):
		because = "is not allowed: it is not on this machine"
	case x.MaxOutputPrice > 0 && !priced:
		because = "is not allowed: its price is not known"
	case x.MaxOutputPrice > 0 && price.Output > x.MaxOutputPrice:
		because = "is not allowed: it costs too much"
	default:
		return ""
	}
	because += " (" + x.Plugin
	if x.Reason != "" {
		because += ": " + x.Reason
	}
	return because + ")"
}

// names reports whether name is the model's or, if it ends in /*, its entry's.
func names(name, model string) bool {
	entry, all := strings.CutSuffix(name, "*")
	return name == model || all && strings.HasSuffix(entry, "/") && strings.HasPrefix(model, entry)
}

// restricted replaces what a plugin forbade with what it forbids.
func (r *Run) restricted(v Vote) {
	if v.Error != "" {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(r.Restrictions), func(x Restriction) bool { return x.Plugin == v.Plugin && !x.ThisCall })
	if v.Restrict != nil {
		kept = append(kept, Restriction{Plugin: v.Plugin, Restrict: *v.Restrict, Reason: words.Clip(words.Tidy(v.Reason), maxForbidding)})
	}
	r.Restrictions = kept
	if r.Open != nil {
		r.leaveOut(r.Open)
	}
}

// leaveOut removes forbidden models from the alternatives of a failure.
func (r *Run) leaveOut(o *OpenFailure) {
	var allowed []Alternative
	for _, a := range o.Alternatives {
		if lacks := r.forbids(a.Model); lacks != "" {
			o.Unfit = append(slices.Clip(o.Unfit), Unfit{Model: a.Model, Lacks: lacks})
			continue
		}
		allowed = append(allowed, a)
	}
	o.Alternatives = allowed
}

// forbids says which plugin forbids a model, and why, in words that follow the model's name; "" if
// none does.
func (r *Run) forbids(model string) string {
	for i := range r.Restrictions {
		if lacks := r.Restrictions[i].lacks(&r.Policy, model); lacks != "" {
			return lacks
		}
	}
	return ""
}

// forbidden lists the models that the run could use but plugins forbid, each with the reason.
func (r *Run) forbidden() []Unfit {
	var list []Unfit
	for _, model := range r.Policy.Models {
		if lacks := r.forbids(model); lacks != "" {
			list = append(list, Unfit{Model: model, Lacks: lacks})
		}
	}
	return list
}

// tellForbidden appends to a message what plugins forbid, and names at most that many models.
func (r *Run) tellForbidden(message string, most int) string {
	all := r.forbidden()
	for _, u := range all[:min(len(all), namedUnfit)] {
		told := u.Model + " " + u.Lacks + "."
		if !strings.Contains(message, told) {
			message = strings.TrimSpace(words.Clip(message, max(0, most-len(told)-1)) + " " + told)
		}
	}
	return message
}

// refuse fails a call that a restriction forbids; nil if none does.
func (r *Run) refuse(model string) []Effect {
	lacks := r.forbids(model)
	if lacks == "" {
		return nil
	}
	f := r.failure(failure.KindPromptFailure, failure.OriginHook, failure.PhasePrompt)
	f.Model, f.Variant = model, failure.VariantForbidden
	f.Describe(failure.Words{Reason: "The model " + model + " " + lacks + "."})
	return record(r, Failed{Failure: f, Cause: CauseForbidden})
}

// summariser is the model that shortens the conversation.
func (r *Run) summariser() string {
	if g := r.Gate; g != nil && g.Model != "" {
		return g.Model
	}
	model := cmp.Or(r.Policy.CompactionModel, r.Model)
	if r.forbids(model) != "" {
		return r.Model
	}
	return model
}
