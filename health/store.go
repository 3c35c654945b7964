package health

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Store holds what the processes of several machines share. Each method is one atomic step. It is
// safe for concurrent use.
type Store interface {
	// Look gives everything in the store.
	Look(ctx context.Context) (Known, error)
	// Cool replaces the cooldown of a scope with c and the next version. ok is false, and nothing
	// changes, if the stored one no longer has c.Version.
	Cool(ctx context.Context, scope string, c Cooldown) (ok bool, err error)
	// Warm removes the cooldowns of scopes.
	Warm(ctx context.Context, scopes ...string) error
	// Reserve adds to what was spent on a day ("2026-03-01"); the sum never falls below zero. If
	// limit has no room for it (see recovery.Budget.Lacks), nothing is added and ok is false. spent
	// is the sum before.
	Reserve(ctx context.Context, day string, reserve, limit recovery.Budget) (spent recovery.Budget, ok bool, err error)
}

// Known is the contents of a Store.
type Known struct {
	Cooldowns map[string]Cooldown // by scope
	Spent     map[string]recovery.Budget
	Zone      *time.Location // the time zone of the days
	Members   int            // processes that share the work now
}

// Cooldown is a cooldown in a Store. It holds the time that is left, on which all clocks agree.
type Cooldown struct {
	Kind     failure.Kind
	Left     time.Duration // negative: how long it has been over
	Failures int           // in a row
	Version  int64         // 0 = there is none yet
}

const (
	storePatience = 5 * time.Second // for one request
	coolTries     = 8               // if other processes write the same cooldown
)

// Share makes a Health that uses a store. Cooldowns are read from memory, where they are about a
// second old at most; spending is counted by the store alone. It reads the store every second until
// ctx ends, and fails if the store cannot be read now.
func Share(ctx context.Context, store Store) (*Health, error) {
	h := &Health{known: nothing(), store: &inStore{Store: store, unwritten: spending{}}}
	if err := h.look(ctx); err != nil {
		return nil, fmt.Errorf("health: %w", err)
	}
	go h.keepLooking(ctx)
	return h, nil
}

// inStore is the state of a Health that uses a Store.
type inStore struct {
	Store

	mu        sync.Mutex // held while a cooldown is written, or the store is read
	unwritten spending   // spent while the store did not answer
	silent    bool
}

func (h *Health) keepLooking(ctx context.Context) {
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := h.look(ctx); err != nil && ctx.Err() == nil {
				h.store.missed(err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// missed logs, once, that the store does not answer.
func (s *inStore) missed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.silent {
		slog.Warn("health: what is known is kept in memory only", "error", err)
	}
	s.silent = true
}

// look reads the store, and writes to it what could not be written earlier.
func (h *Health) look(ctx context.Context) error {
	s := h.store
	s.mu.Lock()
	defer s.mu.Unlock()
	return h.lookLocked(ctx)
}

func (h *Health) lookLocked(ctx context.Context) error {
	s := h.store
	bounded, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	if err := h.catchUp(bounded); err != nil {
		return err
	}
	kept, err := s.Look(bounded)
	if err != nil {
		return err
	}
	s.silent = false
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = h.known.with(kept, h.Now())
	h.known.spent.merge(s.unwritten)
	h.pace.share(kept.Members)
	return nil
}

// catchUp adds what was spent while the store did not answer.
func (h *Health) catchUp(ctx context.Context) error {
	h.mu.RLock()
	late := maps.Clone(h.store.unwritten)
	h.mu.RUnlock()
	for day, used := range late {
		if _, _, err := h.store.Reserve(ctx, day, used, recovery.Budget{}); err != nil {
			return err
		}
		h.mu.Lock()
		if rest := h.store.unwritten[day].Minus(used); rest != (recovery.Budget{}) {
			h.store.unwritten[day] = rest
		} else {
			delete(h.store.unwritten, day)
		}
		h.mu.Unlock()
	}
	return nil
}

// sameEnd is how much two readings of the same end may differ, since a request takes time.
const sameEnd = time.Second

// with is the contents of a store, merged with what was known before. An end that did not change is
// kept to the nanosecond; what could not be written yet is kept, too.
func (k *known) with(kept Known, at time.Time) *known {
	now := &known{cooldowns: records{}, spent: spending(maps.Clone(kept.Spent)), zone: kept.Zone}
	if now.spent == nil {
		now.spent = spending{}
	}
	for scope, c := range kept.Cooldowns {
		r := record{Kind: c.Kind, Until: at.Add(c.Left).UTC().Round(0), Failures: c.Failures, version: c.Version}
		if mine := k.cooldowns[scope]; mine.version == r.version && !mine.unwritten && r.Until.Sub(mine.Until).Abs() < sameEnd {
			r.Until = mine.Until
		}
		if r.valid(scope) {
			now.cooldowns[scope] = r
		}
	}
	for scope, mine := range k.cooldowns {
		if r := now.cooldowns[scope]; mine.unwritten && mine.Until.After(at) && mine.Until.After(r.Until) {
			mine.version = r.version
			now.cooldowns[scope] = mine
		}
	}
	return now
}

// coolInStore records that a call in a scope failed.
func (h *Health) coolInStore(scope string, f failure.Failure, at time.Time) {
	s := h.store
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	var err error
	for range coolTries {
		h.mu.RLock()
		r := h.known.cooldowns[scope].failed(f, at)
		h.mu.RUnlock()
		var ok bool
		if ok, err = s.Cool(ctx, scope, Cooldown{Kind: r.Kind, Left: r.Until.Sub(at), Failures: r.Failures, Version: r.version}); err != nil {
			break
		}
		if ok {
			r.version++
			r.unwritten = false
			h.learn(scope, r)
			return
		}
		if err = h.lookLocked(ctx); err != nil { // another process wrote first
			break
		}
	}
	h.mu.RLock()
	r := h.known.cooldowns[scope].failed(f, at)
	h.mu.RUnlock()
	r.unwritten = true
	h.learn(scope, r)
	slog.Warn("health: a cooldown is kept in memory only", "of", scope, "error", err)
}

func (h *Health) learn(scope string, r record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known.cooldowns[scope] = r
}

// warmInStore removes the cooldowns of scopes.
func (h *Health) warmInStore(scopes []string) {
	s := h.store
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	if err := s.Warm(ctx, scopes...); err != nil {
		slog.Warn("health: others are not told that a model is well again", "error", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, scope := range scopes {
		delete(h.known.cooldowns, scope)
	}
}

// reserveInStore reserves in the store or, if it does not answer, against what it last said.
func (h *Health) reserveInStore(day string, reserve, limit recovery.Budget) (spent recovery.Budget, lacks string) {
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	spent, ok, err := h.store.Reserve(ctx, day, reserve, limit)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil:
		slog.Warn("health: what is spent is counted in memory only", "error", err)
		spent = h.known.spent[day]
		if lacks = limit.Lacks(spent, reserve); lacks == "" {
			h.store.unwritten.add(day, reserve)
			h.known.spent.add(day, reserve)
		}
		return spent, lacks
	case !ok:
		if lacks = limit.Lacks(spent, reserve); lacks == "" { // other processes have used it up meanwhile
			lacks = limit.Lacks(limit, reserve)
		}
		return spent, lacks
	}
	h.known.spent[day] = spent.Plus(reserve)
	return spent, ""
}
