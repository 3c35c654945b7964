package runner

import (
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
)

// errOverDay says that a call did not begin, since the day's budget has no room for it,
// and that its failure is written instead.
var errOverDay = errors.New("over the day's budget")

// counted is what the day was told of the call that began last.
type counted struct {
	at    time.Time       // when it began: its day is the one that pays
	ahead recovery.Budget // what the run itself does not count yet
}

// begins writes the intent of a call once what it may use is counted against the day's
// budget, or else the failure of one that would exceed it.
func (l *loop) begins(ctx context.Context, intent recovery.Body, reserve recovery.Budget) error {
	if err := l.awake(ctx); err != nil {
		return err
	}
	limit := l.run.Policy.DayBudget
	if limit == (recovery.Budget{}) {
		return l.write(ctx, intent)
	}
	if l.run.BeyondDay {
		limit = recovery.Budget{} // counted all the same
	}
	now := l.clock.now()
	var spent recovery.Budget
	var lacks string
	l.beside(func() { spent, lacks = l.r.health.Reserve(now, reserve, limit) })
	if lacks == "" {
		l.counted = counted{at: now, ahead: reserve}
		return l.write(ctx, intent)
	}
	if err := l.write(ctx, l.run.OverDay(lacks, spent, reserve, health.Tomorrow(now))); err != nil {
		return err
	}
	return errOverDay
}

// count tells the day what the run has spent since it was told last.
func (l *loop) count(spent recovery.Budget) {
	if l.run.Policy.DayBudget == (recovery.Budget{}) {
		return
	}
	used := spent.Minus(l.counted.ahead)
	l.beside(func() { l.r.health.Spend(l.counted.at, used) })
	l.counted.ahead = recovery.Budget{}
}
