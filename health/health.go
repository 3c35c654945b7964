package health

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Health knows which models and provider entries are cooling down. It is safe
// for concurrent use.
type Health struct {
	mu      sync.RWMutex
	records records
	shared  *file // nil = in memory only
}

// New makes a Health that lives in memory.
func New() *Health { return &Health{records: records{}} }

// Failed notes that a call to model (a full name, provider/model) failed with f
// at a time. Failures that say nothing about later calls change nothing.
func (h *Health) Failed(model string, f recovery.Failure, at time.Time) {
	scope, ok := scopeOf(model, f)
	if !ok {
		return
	}
	h.update(at, func(r records) { r.failed(scope, f, at) })
}

// Succeeded notes that model answered: it and its provider entry are well again.
func (h *Health) Succeeded(model string) {
	if h.shared != nil {
		h.refresh()
	}
	entry := entryOf(model)
	h.mu.RLock()
	_, one := h.records[model]
	_, all := h.records[entry]
	h.mu.RUnlock()
	if !one && !all {
		return // the usual case costs no write
	}
	h.update(time.Time{}, func(r records) {
		delete(r, model)
		delete(r, entry)
	})
}

// Cooling reports whether model, or its provider entry, is cooling down at a
// time, and until when: the later of the two. It does no I/O itself; what other
// processes wrote since is read beside it.
func (h *Health) Cooling(model string, at time.Time) (recovery.Cooldown, bool) {
	if h.shared != nil {
		h.shared.soon(at, h.refresh)
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	r := h.records[model]
	if e := h.records[entryOf(model)]; e.Until.After(r.Until) {
		r = e
	}
	if !r.Until.After(at) {
		return recovery.Cooldown{}, false
	}
	return recovery.Cooldown{Model: model, Until: r.Until, Kind: r.Kind}, true
}

// All lists what is cooling down at a time, by name. Model is a full name, or an
// entry's name where the whole entry cools down.
func (h *Health) All(at time.Time) []recovery.Cooldown {
	if h.shared != nil {
		h.refresh()
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	var all []recovery.Cooldown
	for scope, r := range h.records {
		if r.Until.After(at) {
			all = append(all, recovery.Cooldown{Model: scope, Until: r.Until, Kind: r.Kind})
		}
	}
	slices.SortFunc(all, func(a, b recovery.Cooldown) int { return cmp.Compare(a.Model, b.Model) })
	return all
}

// update makes one change, in the file too where there is one.
func (h *Health) update(at time.Time, change func(records)) {
	if h.shared != nil {
		h.shared.mu.Lock()
		defer h.shared.mu.Unlock()
		h.shared.update(h.snapshot(), func(r records) records {
			change(r)
			r.prune(at)
			h.replace(r)
			return r
		})
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h.records)
	h.records.prune(at)
}

// refresh takes over what other processes wrote.
func (h *Health) refresh() {
	h.shared.mu.Lock()
	defer h.shared.mu.Unlock()
	if r, changed := h.shared.read(h.snapshot()); changed {
		h.replace(r)
	}
}

func (h *Health) snapshot() records {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return maps.Clone(h.records)
}

func (h *Health) replace(r records) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = r
}

// entryOf is the provider entry's name: what stands before the first "/".
func entryOf(model string) string {
	entry, _, _ := strings.Cut(model, "/")
	return entry
}
