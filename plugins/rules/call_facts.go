package rules

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// callFacts extracts what rules may know about a call that is about to begin. It has no failure.
func callFacts(c plugin.Call) *Facts {
	f := &Facts{
		Model: c.Model, Attempt: c.Attempt, AutoRecover: c.AutoRecover, Elapsed: c.Elapsed, Round: c.Round,
		Remaining:    remainingOf(unlimited.Attempts, c.RemainingTime, c.Remaining),
		Alternatives: alternativesOf(c.Models), Tried: triedOf(c.Tried), ReplaySafety: "safe", At: c.Time,
		Labels: c.Labels, SessionKey: c.SessionKey, AgentID: c.AgentID, Spent: spentOf(c.Spent),
		InputTokens: c.InputTokens, Tools: c.Tools, Images: c.Images, Schema: c.Schema,
		FailedKinds: kindsAsText(c.FailedKinds), RecentKinds: recentKinds(c.RecentCalls),
	}
	f.complete()
	return f
}

func alternativesOf(models []recovery.Alternative) []Alternative {
	var list []Alternative
	for _, a := range models {
		known := Alternative{Model: a.Model, ContextTokens: a.ContextTokens, OutputPrice: -1, Local: a.Local, Health: a.Health}
		if a.Price != nil {
			known.OutputPrice = float64(a.Price.Output) / micros
		}
		list = append(list, known)
	}
	return list
}

func triedOf(tried []recovery.Tried) []Tried {
	var list []Tried
	for _, t := range tried {
		list = append(list, Tried{Model: t.Model, Code: string(t.Code), At: t.At, Took: t.Millis.Duration()})
	}
	return list
}

func spentOf(b recovery.Budget) Spent {
	return Spent{Tokens: b.Tokens, Dollars: float64(b.Microdollars) / micros}
}

func kindsAsText(kinds []failure.Kind) []string {
	var list []string
	for _, kind := range kinds {
		list = append(list, string(kind))
	}
	return list
}

func recentKinds(calls []recovery.RecentCall) []string {
	var list []string
	for _, call := range calls {
		list = append(list, string(call.Kind))
	}
	return list
}
