package health

import (
	"maps"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// spending is what runs have used, by local day ("2026-03-01").
type spending map[string]recovery.Budget

// Reserve counts what a call that begins at that time may use, before it begins. If the day's
// budget has no room for it, nothing is counted, lacks names the part of the budget, and spent is
// what the runs of that day have used. Processes that share a file share the day's budget.
func (h *Health) Reserve(at time.Time, reserve, limit recovery.Budget) (spent recovery.Budget, lacks string) {
	if h.store != nil {
		return h.reserveInStore(h.dayOf(at), reserve, limit)
	}
	h.update(at, func(k *known) {
		day := dayOf(at.In(k.days()))
		spent = k.spent[day]
		if lacks = limit.Lacks(spent, reserve); lacks == "" {
			k.spent.add(day, reserve)
		}
	})
	return spent, lacks
}

// Spend corrects what was counted for a call that began at that time. used is what it used minus
// what it reserved, and may be negative.
func (h *Health) Spend(at time.Time, used recovery.Budget) {
	if used == (recovery.Budget{}) {
		return
	}
	if h.store != nil {
		h.reserveInStore(h.dayOf(at), used, recovery.Budget{})
		return
	}
	h.update(at, func(k *known) { k.spent.add(dayOf(at.In(k.days())), used) })
}

// Spent is what the runs of that day have used; calls in the air count with what they reserved.
func (h *Health) Spent(at time.Time) recovery.Budget {
	h.refresh()
	day := h.dayOf(at)
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.known.spent[day]
}

// Tomorrow is when the day after at's begins, in this machine's time zone or in the Store's.
func (h *Health) Tomorrow(at time.Time) time.Time {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return nextDay(at.In(h.known.days()))
}

// nextDay is Tomorrow in the time zone of at.
func nextDay(at time.Time) time.Time {
	year, month, day := at.Date()
	next := time.Date(year, month, day+1, 0, 0, 0, 0, at.Location())
	for next.Day() == day { // if clocks are put forward at midnight, that midnight does not exist
		next = next.Add(time.Hour)
	}
	return next
}

// days is the time zone of the days.
func (k *known) days() *time.Location {
	if k.zone != nil {
		return k.zone
	}
	return time.Local
}

func (h *Health) dayOf(at time.Time) string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return dayOf(at.In(h.known.days()))
}

// dayOf is the day of at in its time zone.
func dayOf(at time.Time) string { return at.Format(time.DateOnly) }

func (s spending) add(day string, used recovery.Budget) { s[day] = s[day].Plus(used) }

// since is what s counts in addition to before.
func (s spending) since(before spending) spending {
	more := spending{}
	for day, spent := range s {
		if used := spent.Minus(before[day]); used != (recovery.Budget{}) {
			more[day] = used
		}
	}
	return more
}

func (s spending) merge(more spending) {
	for day, used := range more {
		s.add(day, used)
	}
}

// prune forgets all days but that of at and the days before and after it, which other time zones
// and calls that began before midnight need. Sums below zero become zero.
func (s spending) prune(at time.Time) {
	from, to := dayOf(at.AddDate(0, 0, -1)), dayOf(at.AddDate(0, 0, 1))
	maps.DeleteFunc(s, func(day string, _ recovery.Budget) bool { return day < from || day > to })
	for day, spent := range s {
		s[day] = recovery.Budget{Tokens: max(0, spent.Tokens), Microdollars: max(0, spent.Microdollars)}
	}
}

func (s spending) valid() bool {
	for day, spent := range s {
		if _, err := time.Parse(time.DateOnly, day); err != nil || spent.Tokens < 0 || spent.Microdollars < 0 {
			return false
		}
	}
	return true
}
