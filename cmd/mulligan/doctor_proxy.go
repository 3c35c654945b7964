package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/server"
)

// proxyPatience is how long to wait for proxies.
const proxyPatience = 10 * time.Second

// proxies says which proxies are used for which providers, and whether each works.
func (d *doctor) proxies(ctx context.Context, models *server.Models) {
	ctx, cancel := context.WithTimeout(ctx, proxyPatience)
	defer cancel()
	entries := d.proxied(models.Set)
	found := make([]error, len(entries))
	var all sync.WaitGroup
	for i, entry := range entries {
		all.Go(func() { found[i] = models.Set.TryProxy(ctx, entry) })
	}
	all.Wait()
	for i, entry := range entries {
		address, setting := models.Set.Proxy(entry)
		what := fmt.Sprintf("proxy: %s is asked through %s (%s)", entry, address, setting)
		if found[i] == nil {
			d.good("%s, which answers", what)
			continue
		}
		f, _ := failure.AsFailure(found[i])
		d.bad(terminal.OneLine(f.Message), "%s: %s", what, f.Title)
	}
}

// proxied are the entries behind a proxy that would be asked; if there are none, the first
// that could be.
func (d *doctor) proxied(set *provider.Set) []string {
	var used, other []string
	for _, e := range set.Entries() {
		address, _ := set.Proxy(e.Name)
		_, own := d.Config.Providers[e.Name]
		chosen := slices.ContainsFunc(append([]string{d.Config.Model}, d.Config.Fallbacks...), func(model string) bool {
			return strings.HasPrefix(model, e.Name+"/")
		})
		switch {
		case address == "":
		case own, chosen, set.Has(e.Name + "/"):
			used = append(used, e.Name)
		default:
			other = append(other, e.Name)
		}
	}
	if len(used) > 0 {
		return used
	}
	return other[:min(len(other), 1)]
}
