package rules

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/recovery"
)

// switchAction asks another model: one of to, or of all alternatives if to is empty. A
// model that has failed during this call is not asked again.
type switchAction struct {
	to     []string
	prefer string
}

// preferences are the orders in which a model is chosen; ties are settled by the order
// of to, or else by the run's own.
var preferences = map[string]func(f *Facts, a, b Alternative) int{
	"order":           func(*Facts, Alternative, Alternative) int { return 0 },
	"larger_context":  func(_ *Facts, a, b Alternative) int { return cmp.Compare(b.ContextTokens, a.ContextTokens) },
	"smaller_context": func(_ *Facts, a, b Alternative) int { return cmp.Compare(a.knownContext(), b.knownContext()) },
	"same_provider":   func(f *Facts, a, b Alternative) int { return cmp.Compare(f.away(a), f.away(b)) },
	"other_provider":  func(f *Facts, a, b Alternative) int { return cmp.Compare(f.away(b), f.away(a)) },
}

// preferenceNames is the order in which they are listed for people.
var preferenceNames = []string{"order", "larger_context", "smaller_context", "same_provider", "other_provider"}

// knownContext puts a model of unknown size last.
func (a Alternative) knownContext() int64 {
	if a.ContextTokens <= 0 {
		return math.MaxInt64
	}
	return a.ContextTokens
}

// away is 0 for a model of the failed model's provider entry, 1 for others.
func (f *Facts) away(a Alternative) int {
	if a.Provider == providerOf(f.Model) {
		return 0
	}
	return 1
}

func (s switchAction) decide(f *Facts, _ float64) (recovery.Vote, bool) {
	candidates := s.candidates(f)
	if len(candidates) == 0 {
		return recovery.Vote{}, false
	}
	better := preferences[s.prefer]
	best := slices.MinFunc(candidates, func(a, b Alternative) int { return better(f, a, b) })
	return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: best.Model}, true
}

// candidates are the models that may be asked, in the order of to.
func (s switchAction) candidates(f *Facts) []Alternative {
	var list []Alternative
	for _, a := range f.Alternatives {
		named := len(s.to) == 0 || s.rank(a.Model) >= 0
		if named && a.Model != "" && a.Model != f.Model && !f.hasFailed(a.Model) {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b Alternative) int {
		return cmp.Compare(s.rank(a.Model), s.rank(b.Model))
	})
	return list
}

// rank is the index in to of the first name that matches a model, -1 if there is none.
func (s switchAction) rank(model string) int {
	return slices.IndexFunc(s.to, func(name string) bool { return matches(name, model) })
}

func (f *Facts) hasFailed(model string) bool {
	return slices.ContainsFunc(f.Tried, func(t Tried) bool { return t.Model == model })
}

func (s switchAction) String() string {
	text := "switch"
	if len(s.to) > 0 {
		text += " to " + strings.Join(s.to, " or ")
	}
	if s.prefer != "order" {
		text += ", rather " + strings.ReplaceAll(s.prefer, "_", " ")
	}
	return text
}
