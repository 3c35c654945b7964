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

// Store is where the processes of several machines keep what they know together. Each method is
// one atomic step. It is safe for concurrent use.
type Store interface {
	// Look gives all that is kept.
	Look(ctx context.Context) (Known, error)
	// Cool keeps c as the cooldown of a scope, unless another one than that of c.Version is there
	// by now: then ok is false. What it keeps has the next version.
	Cool(ctx context.Context, scope string, c Cooldown) (ok bool, err error)
	// Warm removes the cooldowns of scopes.
	Warm(ctx context.Context, scopes ...string) error
	// Reserve adds to what was spent on a day ("2026-03-01"), which is never less than nothing,
	// unless limit lacks the room (see recovery.Budget.Lacks): then ok is false. spent is what it
	// was before.
	Reserve(ctx context.Context, day string, reserve, limit recovery.Budget) (spent recovery.Budget, ok bool, err error)
}

// Known is what a Store keeps.
type Known struct {
	Cooldowns map[string]Cooldown // by scope
	Spent     map[string]recovery.Budget
	Zone      *time.Location // whose days are counted
	Members   int            // processes that share the work now
}

// Cooldown is one as a Store keeps it: by the time that is left, which every clock counts alike.
type Cooldown struct {
	Kind     failure.Kind
	Left     time.Duration // negative since it is over
	Failures int           // in a row
	Version  int64         // 0 = there is none yet
}

const (
	storePatience = 5 * time.Second // with one question
	coolTries     = 8               // against others who write the same cooldown
)

// Share makes a Health that is kept in a store: cooldowns are read from memory, where they are a
// second old at the most, and spending is counted by the store alone. It looks every second until
// ctx ends, and fails where the store cannot be read now.
func Share(ctx context.Context, store Store) (*Health, error) {
	h := &Health{known: nothing(), store: &inStore{Store: store, unwritten: spending{}}}
	if err := h.look(ctx); err != nil {
		return nil, fmt.Errorf("health: %w", err)
	}
	go h.keepLooking(ctx)
	return h, nil
}

// inStore is the form that machines share.
type inStore struct {
	Store

	mu        sync.Mutex // held by whoever writes a cooldown, or looks
	unwritten spending   // what was spent while the store did not answer
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

// missed logs once that the store does not answer.
func (s *inStore) missed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.silent {
		slog.Warn("health: what is known is kept in memory only", "error", err)
	}
	s.silent = true
}

// look takes over what the store has, and gives it what it could not be given before.
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
	h.known = h.known.with(kept, time.Now())
	h.known.spent.merge(s.unwritten)
	h.pace.share(kept.Members)
	return nil
}

// catchUp counts what was spent while the store did not answer.
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

// sameEnd is how far apart two looks see one end: the way to the store takes its time.
const sameEnd = time.Second

// with is what a store keeps, at a time, after what was known before. What did not change keeps
// its end to the nanosecond; what could not be written yet stays.
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

// coolInStore notes that a call in a scope failed.
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
		if err = h.lookLocked(ctx); err != nil { // somebody was faster
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

// warmInStore notes that scopes are well again.
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

// reserveInStore counts by the store; where that does not answer by what it said last.
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
		if lacks = limit.Lacks(spent, reserve); lacks == "" { // others used it up meanwhile
			lacks = limit.Lacks(limit, reserve)
		}
		return spent, lacks
	}
	h.known.spent[day] = spent.Plus(reserve)
	return spent, ""
}
