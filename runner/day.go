package runner

import (
	"context"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// counted is what was counted against the day for the last call that began.
type counted struct {
	at    time.Time       // when it began: the day that it counts for
	ahead recovery.Budget // counted for the day, but not yet by the run
}

// reservation is what a call that is about to begin may use of the day's budget.
type reservation struct {
	key     string // of the call
	at      time.Time
	reserve recovery.Budget
	spent   recovery.Budget // used of the day
	lacks   string          // the part of the day's budget that has no room, or ""
	ready   bool            // the loop has the answer

	mu      sync.Mutex
	granted bool // it was counted
	over    bool // it is no longer wanted
}

// begin writes the intent of a call that nothing holds back.
func (l *loop) begin(ctx context.Context, intent recovery.Body) error {
	l.turn = turn{}
	if r := l.reserved; r != nil {
		l.reserved = nil
		l.counted = counted{at: r.at, ahead: r.reserve}
	}
	return l.write(ctx, intent)
}

// is reports whether the reservation is for that call.
func (r *reservation) is(key string, reserve recovery.Budget) bool {
	return r != nil && r.key == key && r.reserve == reserve
}

// reserve asks for a part of the day's budget for a call.
func (l *loop) reserve(key string, reserve recovery.Budget) {
	l.giveBack()
	limit := l.run.Policy.DayBudget
	if l.run.BeyondDay {
		limit = recovery.Budget{} // unlimited, but counted
	}
	r := &reservation{key: key, at: l.clock.now(), reserve: reserve}
	l.reserved = r
	l.errands.add(func() {
		spent, lacks := l.r.health.Reserve(r.at, reserve, limit)
		if !r.grant(lacks == "") {
			l.unspend(r)
			return
		}
		l.post(func(context.Context) error {
			r.spent, r.lacks, r.ready = spent, lacks, true
			return nil
		})
	})
}

// grant records the answer; false if the reservation has to be given back.
func (r *reservation) grant(granted bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.granted = granted
	return !r.over || !granted
}

// giveBack gives the reservation back, since its call does not begin.
func (l *loop) giveBack() {
	r := l.reserved
	if r == nil {
		return
	}
	l.reserved = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over = true; r.granted {
		l.errands.add(func() { l.unspend(r) })
	}
}

func (l *loop) unspend(r *reservation) {
	l.r.health.Spend(r.at, recovery.Budget{}.Minus(r.reserve))
}

// count reports to the day what the run has spent since the last report.
func (l *loop) count(spent recovery.Budget) {
	if l.run.Policy.DayBudget == (recovery.Budget{}) {
		return
	}
	at, used := l.counted.at, spent.Minus(l.counted.ahead)
	l.counted.ahead = recovery.Budget{}
	if used != (recovery.Budget{}) {
		l.errands.add(func() { l.r.health.Spend(at, used) })
	}
}
