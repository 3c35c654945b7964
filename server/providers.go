package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/tally"
	"github.com/mulligan-run/mulligan/recovery"
)

// listProviders implements gateway.Config's Providers: the models that may be chosen and those
// that were called, grouped by entry.
func (s *Runs) listProviders() gateway.Providers {
	now := s.known.Now()
	out := gateway.Providers{Since: s.app.tally.Since(now), Budget: s.app.Config.Budget.OfDay()}
	calls := map[string]gateway.ModelCalls{}
	for _, m := range s.listModels() {
		calls[m.Name] = gateway.ModelCalls{Name: m.Name}
	}
	for _, m := range s.app.tally.Models(now) {
		calls[m.Name] = callsOf(m)
		out.Spent = out.Spent.Plus(m.Spent)
	}
	if out.Budget != (recovery.Budget{}) {
		out.Spent = s.known.Spent(now) // other processes spend from it, too
	}
	cooling := map[string]recovery.Cooldown{}
	for _, c := range s.known.All(now) {
		cooling[c.Model] = c
	}
	entries := map[string]*gateway.Provider{}
	for name, m := range calls {
		m.Ready, m.Cooling = s.models.Has(name), coolingOf(cooling, name)
		entry, _, _ := strings.Cut(name, "/")
		p := entries[entry]
		if p == nil {
			p = &gateway.Provider{Name: entry, Title: words.ProviderName(entry), Queued: s.known.Queued(entry), Cooling: coolingOf(cooling, entry)}
			entries[entry] = p
		}
		p.Models = append(p.Models, m)
	}
	for _, p := range entries {
		slices.SortFunc(p.Models, func(a, b gateway.ModelCalls) int { return cmp.Compare(a.Name, b.Name) })
		out.Providers = append(out.Providers, *p)
	}
	slices.SortFunc(out.Providers, func(a, b gateway.Provider) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func coolingOf(all map[string]recovery.Cooldown, name string) *recovery.Cooldown {
	if c, ok := all[name]; ok {
		return &c
	}
	return nil
}

func callsOf(m tally.Model) gateway.ModelCalls {
	out := gateway.ModelCalls{
		Name: m.Name, Calls: m.Calls, InAir: m.InAir, P50: m.P50, P95: m.P95, Tokens: m.Spent.Tokens, Microdollars: m.Spent.Microdollars,
	}
	for kind, n := range m.Kinds {
		out.Failed += n
		out.Failures = append(out.Failures, gateway.KindCount{Kind: failure.Kind(kind), Calls: n})
	}
	slices.SortFunc(out.Failures, func(a, b gateway.KindCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}
