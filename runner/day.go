package runner

import (
	"context"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// counted is what the day was told of the call that began last.
type counted struct {
	at    time.Time       // when it began: its day is the one that pays
	ahead recovery.Budget // what the run itself does not count yet
}

// reservation is what a call that is about to begin may use, as the day was asked for it.
type reservation struct {
	key     string // of the call
	at      time.Time
	reserve recovery.Budget
	spent   recovery.Budget // of the day
	lacks   string          // what the day's budget has no room for, or ""
	ready   bool            // the loop has heard what the day says

	mu      sync.Mutex
	granted bool // it is counted
	over    bool // nobody wants it any more
}

// begin writes the intent of a call that nothing holds.
func (l *loop) begin(ctx context.Context, intent recovery.Body) error {
	l.turn = turn{}
	if r := l.reserved; r != nil {
		l.reserved = nil
		l.counted = counted{at: r.at, ahead: r.reserve}
	}
	return l.write(ctx, intent)
}

// is reports whether the day was asked for that call.
func (r *reservation) is(key string, reserve recovery.Budget) bool {
	return r != nil && r.key == key && r.reserve == reserve
}

// reserve asks the day for a call.
func (l *loop) reserve(key string, reserve recovery.Budget) {
	l.giveBack()
	limit := l.run.Policy.DayBudget
	if l.run.BeyondDay {
		limit = recovery.Budget{} // counted all the same
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

// grant notes what the day said; false if that is to be given back.
func (r *reservation) grant(granted bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.granted = granted
	return !r.over || !granted
}

// giveBack is for when the call that the day was asked for does not begin.
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

// count tells the day what the run has spent since it was told last.
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
