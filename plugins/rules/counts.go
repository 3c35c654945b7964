package rules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	maxCounted = 1000 // failures that a counter remembers
	maxTurns   = 20   // tries to update a counter that others change at the same time
)

// keeper stores counters: the host implements it, for all processes of the plugin.
type keeper interface {
	Get(ctx context.Context, key string) (value []byte, version int64, err error)
	CompareAndSet(ctx context.Context, key string, version int64, value []byte) (done bool, err error)
}

// count fills in the counts of f. If counts is set and a counter matches the failure, the failure
// itself is counted. A count that fails is left out: a condition that needs it is false.
func (rs *Rules) count(ctx context.Context, k keeper, f *Facts, counts bool) error {
	f.Counts = map[string]int{}
	var errs []error
	for _, c := range rs.counters {
		n, err := rs.countOf(ctx, k, c, f, counts)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f.Counts[c.name] = n
	}
	return errors.Join(errs...)
}

func (rs *Rules) countOf(ctx context.Context, k keeper, c counter, f *Facts, counts bool) (int, error) {
	in := rs.scope(f)
	if counts && c.when != nil {
		holds, err := c.when.holds(in)
		if err != nil {
			return 0, err
		}
		counts = holds
	}
	key := "count/" + c.name
	if c.by != nil {
		v, err := c.by.value(in)
		if err != nil {
			return 0, err
		}
		text, _ := v.Value().(string)
		sum := sha256.Sum256([]byte(text))
		key += "/" + hex.EncodeToString(sum[:8])
	}
	for range maxTurns {
		value, version, err := k.Get(ctx, key)
		if err != nil {
			return 0, err
		}
		recent := recentOf(value, f.At, c.within)
		if !counts {
			return len(recent), nil
		}
		recent = append(recent, f.At.UnixMilli())
		slices.Sort(recent)
		recent = recent[max(0, len(recent)-maxCounted):]
		text, err := json.Marshal(recent)
		if err != nil {
			return 0, err
		}
		if done, err := k.CompareAndSet(ctx, key, version, text); done || err != nil {
			return len(recent), err
		}
	}
	return 0, errors.New("the counter " + c.name + " is changed by too many processes at the same time")
}

// recentOf are the times in value, in milliseconds, that are at most within before at.
func recentOf(value []byte, at time.Time, within time.Duration) []int64 {
	var all []int64
	if json.Unmarshal(value, &all) != nil {
		return nil
	}
	from, to := at.Add(-within).UnixMilli(), at.UnixMilli()
	return slices.DeleteFunc(all, func(t int64) bool { return t <= from || t > to })
}

// memory is a keeper for when the host stores nothing.
type memory struct {
	mu   sync.Mutex
	kept map[string][]byte
	at   map[string]int64
}

func newMemory() *memory { return &memory{kept: map[string][]byte{}, at: map[string]int64{}} }

// Get implements keeper.
func (m *memory) Get(_ context.Context, key string) ([]byte, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.kept[key]), m.at[key], nil
}

// CompareAndSet implements keeper.
func (m *memory) CompareAndSet(_ context.Context, key string, version int64, value []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at[key] != version {
		return false, nil
	}
	m.kept[key], m.at[key] = value, version+1
	return true, nil
}
