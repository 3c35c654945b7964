package hooks

import (
	"slices"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// MaxRecentCalls is how many recent calls an occasion has.
const MaxRecentCalls = 20

// Surroundings is what is known about models beyond a run; see [About].
type Surroundings interface {
	// Capabilities are those of a model, with its full name.
	Capabilities(model string) llm.Capabilities
	// Cooling is the present cooldown of a model; false if it has none.
	Cooling(model string) (recovery.Cooldown, bool)
	// Recent are the last calls of the model's entry in all runs, the newest last.
	Recent(model string) []recovery.RecentCall
}

// About is o with what is known about its models beyond the run: what they do not accept, whether
// they are cooling down, and how their last calls ended.
func About(o Occasion, s Surroundings) Occasion {
	switch e := o.(type) {
	case RunError:
		e.About, e.Alternatives, e.Cooling = describe(e.About, s), describedAll(e.Alternatives, s), describedAll(e.Cooling, s)
		e.RecentCalls = newest(s.Recent(e.Model))
		return e
	case BeforeCall:
		e.Model, e.Alternatives = describe(e.Model, s), describedAll(e.Alternatives, s)
		e.RecentCalls = newest(s.Recent(e.Model.Model))
		return e
	}
	return o
}

// The values of recovery.Alternative.Health: how the last call of the model ended.
const (
	healthWell    = "well"
	healthFailing = "failing"
)

func describe(a recovery.Alternative, s Surroundings) recovery.Alternative {
	able := s.Capabilities(a.Model)
	if a.ContextTokens == 0 {
		a.ContextTokens = able.ContextTokens
	}
	a.Lacks = nil
	for _, part := range []struct {
		lacks bool
		name  string
	}{{able.NoImages, "images"}, {able.NoTools, "tools"}, {able.NoSchema, "schema"}} {
		if part.lacks {
			a.Lacks = append(a.Lacks, part.name)
		}
	}
	if c, cools := s.Cooling(a.Model); cools {
		a.CoolsUntil, a.CoolingKind = c.Until, c.Kind
	}
	for _, call := range s.Recent(a.Model) {
		switch {
		case call.Model != a.Model:
		case call.Kind == "":
			a.Health = healthWell
		default:
			a.Health = healthFailing
		}
	}
	return a
}

func describedAll(list []recovery.Alternative, s Surroundings) []recovery.Alternative {
	list = slices.Clone(list)
	for i, a := range list {
		list[i] = describe(a, s)
	}
	return list
}

func newest(calls []recovery.RecentCall) []recovery.RecentCall {
	return slices.Clone(calls[max(0, len(calls)-MaxRecentCalls):])
}

// request is what a run's next request uses.
type request struct {
	tools          []string
	images, schema bool
}

func requestOf(r *recovery.Run) request {
	var q request
	for _, t := range r.Tools {
		q.tools = append(q.tools, t.Name)
	}
	q.images = slices.ContainsFunc(r.Messages, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Image != nil })
	})
	q.schema = r.Form != nil && r.Form.Format != nil && len(r.Form.Format.Schema) > 0
	return q
}
