package health

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Health knows which models and provider entries are cooling down, and what was spent
// today. It is safe for concurrent use.
type Health struct {
	mu     sync.RWMutex
	known  *known   // replaced as a whole if others also write to it
	shared *file    // nil = in no file
	store  *inStore // nil = in no store

	pace pace
}

// known is everything that is known.
type known struct {
	cooldowns records
	spent     spending
	zone      *time.Location // the time zone of the days; nil = this machine's
}

func nothing() *known { return &known{cooldowns: records{}, spent: spending{}} }

func (k *known) clone() *known {
	return &known{cooldowns: maps.Clone(k.cooldowns), spent: maps.Clone(k.spent), zone: k.zone}
}

// New makes a Health in memory.
func New() *Health { return &Health{known: nothing()} }

// Now is the time that cooldowns and days go by: that of the store that others share, where it has a clock.
func (h *Health) Now() time.Time {
	if h.store != nil {
		if clock, ok := h.store.Store.(interface{ Now() time.Time }); ok {
			return clock.Now()
		}
	}
	return time.Now()
}

// Failed records that a call to model (a full name, provider/model) failed with f at that time. It
// ignores failures that say nothing about later calls.
func (h *Health) Failed(model string, f failure.Failure, at time.Time) {
	h.pace.failed(entryOf(model), f)
	scope, ok := scopeOf(model, f)
	if !ok {
		return
	}
	scopes := []string{scope}
	if f.Kind == failure.KindQuota && scope != model {
		scopes = append(scopes, model) // the quota may be the model's alone: see Succeeded
	}
	if h.store != nil {
		for _, scope := range scopes {
			h.coolInStore(scope, f, at)
		}
		return
	}
	h.update(at, func(k *known) {
		for _, scope := range scopes {
			k.cooldowns[scope] = k.cooldowns[scope].failed(f, at)
		}
	})
}

// Succeeded records that model answered: it and its provider entry work again. A quota of the entry
// then belonged only to the models that reported it, and still holds for them.
func (h *Health) Succeeded(model string) {
	if h.shared != nil {
		h.refresh()
	}
	scopes := scopesOf(model)
	if !h.has(scopes) {
		return // the usual case must not cost a write
	}
	if h.store != nil {
		h.warmInStore(scopes)
		return
	}
	h.update(time.Time{}, func(k *known) {
		for _, scope := range scopes {
			delete(k.cooldowns, scope)
		}
	})
}

// Troubled reports whether there is anything that Succeeded would forget. It does no I/O itself;
// changes by other processes are read in the background.
func (h *Health) Troubled(model string, at time.Time) bool {
	if h.shared != nil {
		h.shared.soon(at, h.refresh)
	}
	return h.has(scopesOf(model))
}

// has reports whether something is known of one of the scopes.
func (h *Health) has(scopes []string) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.ContainsFunc(scopes, func(scope string) bool {
		_, is := h.known.cooldowns[scope]
		return is
	})
}

// Cooling reports whether model, or its provider entry, cools down at that time, and until the
// later end of the two. Beside says that only the entry does. It does no I/O itself; changes by
// other processes are read in the background.
func (h *Health) Cooling(model string, at time.Time) (recovery.Cooldown, bool) {
	if h.shared != nil {
		h.shared.soon(at, h.refresh)
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	var r record
	for _, scope := range scopesOf(model) {
		if s := h.known.cooldowns[scope]; s.Until.After(r.Until) {
			r = s
		}
	}
	if !r.Until.After(at) {
		return recovery.Cooldown{}, false
	}
	return recovery.Cooldown{Model: model, Until: r.Until, Kind: r.Kind, Beside: !h.known.cooldowns[model].Until.After(at)}, true
}

// All lists what is cooling down at that time, by name. Model is a full name, or an entry's name if
// the whole entry is cooling down ("pi/anthropic" for an engine's provider). A model with a record
// that says the same as its entry's is left out.
func (h *Health) All(at time.Time) []recovery.Cooldown {
	h.refresh()
	h.mu.RLock()
	defer h.mu.RUnlock()
	var all []recovery.Cooldown
	for scope, r := range h.known.cooldowns {
		if r.Until.After(at) && !h.known.cooldowns.covered(scope, r) {
			all = append(all, recovery.Cooldown{Model: strings.TrimSuffix(scope, "/"), Until: r.Until, Kind: r.Kind})
		}
	}
	slices.SortFunc(all, func(a, b recovery.Cooldown) int { return cmp.Compare(a.Model, b.Model) })
	return all
}

// update makes one change, also in the file if there is one. Records that are over at that time are
// forgotten; none are if the time is zero.
func (h *Health) update(at time.Time, change func(*known)) {
	apply := func(k *known) {
		change(k)
		if at.IsZero() {
			return
		}
		k.cooldowns.prune(at)
		k.spent.prune(at.In(k.days()))
	}
	if h.shared != nil {
		h.shared.mu.Lock()
		defer h.shared.mu.Unlock()
		h.replace(h.shared.update(h.snapshot(), apply))
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	apply(h.known)
}

// refresh reads the changes of other processes.
func (h *Health) refresh() {
	if h.store != nil {
		if err := h.look(context.Background()); err != nil {
			h.store.missed(err)
		}
	}
	if h.shared == nil {
		return
	}
	h.shared.mu.Lock()
	defer h.shared.mu.Unlock()
	if k, changed := h.shared.read(h.snapshot()); changed {
		h.replace(k)
	}
}

func (h *Health) snapshot() *known {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.known.clone()
}

func (h *Health) replace(k *known) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = k
}

// entryOf is the provider entry's name: the part before the first "/".
func entryOf(model string) string {
	entry, _, _ := strings.Cut(model, "/")
	return entry
}
