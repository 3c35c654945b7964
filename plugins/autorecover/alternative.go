package autorecover

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// next picks the model to switch to, or "". Models that have not failed during this
// call come first; one that failed for good is never asked again.
func (c Config) next(in Input, p plan) string {
	if !c.Switch || p.rotate == stay {
		return ""
	}
	var candidates []recovery.Alternative
	for _, a := range in.Alternatives {
		if a.Model != in.Model && in.fitness(a.Model) < failedForGood {
			candidates = append(candidates, a)
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	return slices.MinFunc(candidates, func(a, b recovery.Alternative) int {
		return cmp.Or(
			cmp.Compare(in.fitness(a.Model), in.fitness(b.Model)),
			p.compareContext(a, b),
			p.compareEntry(in.Model, a, b),
			cmp.Compare(c.rank(a.Model), c.rank(b.Model)),
		)
	}).Model
}

// fitness orders models by what happened to them during this call.
type fitness int

const (
	untried fitness = iota
	failed
	failedForGood
)

func (in Input) fitness(model string) fitness {
	worst := untried
	for _, t := range in.Tried {
		if t.Model != model {
			continue
		}
		worst = max(worst, failed)
		if forGood[t.Code] {
			worst = failedForGood
		}
	}
	return worst
}

// forGood are the codes of failures that the same request would meet again.
var forGood = map[failure.Code]bool{
	failure.CodeProviderAuth: true, failure.CodeProviderBilling: true, failure.CodeModelNotFound: true,
	failure.CodeContextOverflow: true, failure.CodeRequestInvalid: true, failure.CodeContentFiltered: true,
	failure.CodeMisconfigured: true,
}

func (p plan) compareContext(a, b recovery.Alternative) int {
	if p.rotate != larger {
		return 0
	}
	return cmp.Compare(b.ContextTokens, a.ContextTokens)
}

func (p plan) compareEntry(model string, a, b recovery.Alternative) int {
	if !p.entryOff {
		return 0
	}
	return cmp.Compare(sameEntry(a.Model, model), sameEntry(b.Model, model))
}

// sameEntry is 1 if both models belong to the same provider entry, else 0.
func sameEntry(a, b string) int {
	entryA, _, _ := strings.Cut(a, "/")
	entryB, _, _ := strings.Cut(b, "/")
	if entryA == entryB {
		return 1
	}
	return 0
}

// rank is the model's place among the preferred ones. All others share the last place,
// and so keep the order of the run's own list.
func (c Config) rank(model string) int {
	if i := slices.Index(c.Prefer, model); i >= 0 {
		return i
	}
	return len(c.Prefer)
}
