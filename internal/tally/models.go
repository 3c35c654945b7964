package tally

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Model counts the outcomes of one model's calls.
type Model struct {
	Name  string           // provider/model
	Calls int64            // answered or failed
	Kinds map[string]int64 // the failed ones, by their failure's kind
	InAir int              // calls in progress
	// P50 and P95 are quantiles of the time to the first token, of the last 256 answered calls; 0 =
	// none.
	P50, P95 failure.Millis
	Spent    recovery.Budget // today
}

// model counts one model's calls.
type model struct {
	calls  window // by their failure's kind, "" = answered
	inAir  int
	firsts firsts
	spent  recovery.Budget // on the day that ends at Tally.day
}

// firsts keeps the last 256 times to a first token.
type firsts struct {
	kept [256]failure.Millis
	n    int
}

func (f *firsts) add(d failure.Millis) {
	f.kept[f.n%len(f.kept)] = d
	f.n++
}

func (f *firsts) quantile(q float64) failure.Millis {
	sorted := slices.Clone(f.kept[:min(f.n, len(f.kept))])
	if len(sorted) == 0 {
		return 0
	}
	slices.Sort(sorted)
	return sorted[int(q*float64(len(sorted)-1))]
}

// Models are those that were called, by name.
func (t *Tally) Models(now time.Time) []Model {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dayOf(now)
	list := make([]Model, 0, len(t.models))
	for name, m := range t.models {
		kinds := m.calls.sums(now)
		var calls int64
		for n := range maps.Values(kinds) {
			calls += n
		}
		delete(kinds, "")
		list = append(list, Model{Name: name, Calls: calls, Kinds: kinds, InAir: m.inAir, P50: m.firsts.quantile(0.50), P95: m.firsts.quantile(0.95), Spent: m.spent})
	}
	slices.SortFunc(list, func(a, b Model) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// begin records that a call begins. The caller holds mu.
func (t *Tally) begin(name string, spent recovery.Budget) *call {
	t.of(name).inAir++
	return &call{name, spent}
}

// callEnded records that a run has no more calls in progress. The caller holds mu.
func (t *Tally) callEnded(d *driven) {
	if d.call != nil {
		m := t.of(d.call.model)
		m.inAir = max(0, m.inAir-1)
	}
	d.call, d.summary = nil, nil
}

func (t *Tally) answered(d *driven, run *recovery.Run, at time.Time, b recovery.Answered) {
	if m := t.over(d, run, at, ""); m != nil && b.FirstEvent > 0 {
		m.firsts.add(b.FirstEvent)
	}
}

func (t *Tally) failed(d *driven, run *recovery.Run, at time.Time, f failure.Failure) {
	t.over(d, run, at, kindOf(f.Kind))
}

// over counts a finished call; kind is its failure's, "" = it was answered. A call that began in
// another process is counted without its cost. The caller holds mu.
func (t *Tally) over(d *driven, run *recovery.Run, at time.Time, kind string) *model {
	c := d.call
	if c == nil {
		c = &call{run.Model, run.Spent}
	}
	t.callEnded(d)
	if c.model == "" {
		return nil
	}
	m := t.of(c.model)
	m.calls.add(kind, at)
	t.pay(m, at, run.Spent.Minus(c.spent))
	return m
}

// summed counts the cost of shortening a conversation. The caller holds mu.
func (t *Tally) summed(d *driven, run *recovery.Run, at time.Time) {
	if c := d.summary; c != nil {
		d.summary = nil
		t.pay(t.of(c.model), at, run.Spent.Minus(c.spent))
	}
}

func (t *Tally) pay(m *model, at time.Time, cost recovery.Budget) {
	t.dayOf(at)
	m.spent = m.spent.Plus(cost)
}

// dayOf resets the spending if another day has begun. The caller holds mu.
func (t *Tally) dayOf(at time.Time) {
	if at.Before(t.day) {
		return
	}
	for _, m := range t.models {
		m.spent = recovery.Budget{}
	}
	t.day = t.tomorrow(at)
}

// of returns a model's counts, creating them if necessary. The caller holds mu.
func (t *Tally) of(name string) *model {
	m := t.models[name]
	if m == nil {
		if len(t.models) >= most {
			delete(t.models, oldest(t.models, func(m *model) time.Time { return m.calls.last() }))
		}
		m = &model{}
		t.models[name] = m
	}
	return m
}
