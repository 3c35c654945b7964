package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// List implements timeline.Store.
func (s *store) List(ctx context.Context, q timeline.Query) ([]timeline.Summary, error) {
	where, args, err := s.where(ctx, q)
	if err != nil {
		return nil, err
	}
	byDue := " FROM heads WHERE seq > 0 AND " + where + " ORDER BY due_at, n"
	if !q.Due.IsZero() {
		return s.listFree(ctx, byDue, q.Limit, args)
	}
	order := " ORDER BY n DESC"
	if q.Oldest {
		order = " ORDER BY n"
	}
	from := " FROM heads WHERE status <> '' AND " + where + order + atMost
	if index := indexFor(q); index != "" {
		from = " FROM heads WHERE n IN (SELECT n FROM runs" + index + " WHERE status <> '' AND " + where + order + atMost + ")" + order
	}
	if q.Waiting {
		from = byDue + atMost
	}
	var list chunks
	scan := newSummaryScan()
	err = s.each(ctx, "SELECT "+summaryColumns+from, func(r row) error {
		summary, err := scan.read(r)
		list.add(summary)
		return err
	}, append(args, q.Limit)...)
	if err != nil {
		return nil, err
	}
	return list.all(), nil
}

// indexFor makes SQLite scan the index with all columns of the search, unless another index finds
// the runs.
func indexFor(q timeline.Query) string {
	found := q.Session != "" || q.SuggestionOpen
	if found || q.Model == "" && q.Kind == "" && q.DecidedBy == "" && q.Text == "" && len(q.Labels) == 0 && q.Since.IsZero() && q.Until.IsZero() {
		return ""
	}
	return " INDEXED BY runs_course"
}

// chunks is a list under construction: a single slice of unknown length would be copied again and
// again as it grows.
type chunks [][]timeline.Summary

func (c *chunks) add(s timeline.Summary) {
	last := len(*c) - 1
	if last < 0 || len((*c)[last]) == cap((*c)[last]) {
		*c = append(*c, make([]timeline.Summary, 0, timeline.DefaultLimit))
		last++
	}
	(*c)[last] = append((*c)[last], s)
}

// all is the whole list.
func (c chunks) all() []timeline.Summary {
	if len(c) == 1 { // a page, as most lists are
		return c[0]
	}
	return slices.Concat(c...)
}

// listFree gives the runs that no living owner holds.
func (s *store) listFree(ctx context.Context, from string, limit int, args []any) ([]timeline.Summary, error) {
	var list []timeline.Summary
	held, scan := s.holders(), newHeadScan()
	err := s.each(ctx, "SELECT "+headColumns+from, func(r row) error {
		h, err := scan.read(r)
		if err != nil {
			return err
		}
		if !held(h) {
			list = append(list, h.Summary)
		}
		if len(list) == limit {
			return errEnough
		}
		return nil
	}, args...)
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return list, nil
}

// errEnough ends a query whose result is complete.
var errEnough = errors.New("enough")

// mayBeDue finds the runs that may be due by a given time, and those with an unanswered command.
const mayBeDue = `SELECT n FROM runs WHERE due_at > 0 AND due_at <= ?
	UNION ALL SELECT n FROM runs WHERE inbox > heard AND ended = 0`

// where is q as a condition, except that the database does not know whether an owner in another
// process is alive.
func (s *store) where(ctx context.Context, q timeline.Query) (condition string, args []any, err error) {
	where := []string{"n > 0"}
	restrict := func(condition string, values ...any) { where, args = append(where, condition), append(args, values...) }
	if q.Status != "" {
		restrict("status = ?", string(q.Status))
	}
	if q.Session != "" {
		restrict("session = ?", q.Session)
	}
	for _, pair := range q.LabelTexts() {
		restrict("instr(labels, ?) > 0", pair)
	}
	if q.Model != "" {
		restrict("model = ?", q.Model)
	}
	if q.Kind != "" {
		restrict("kind = ?", string(q.Kind))
	}
	if q.DecidedBy != "" {
		restrict("decided_by = ?", q.DecidedBy)
	}
	if !q.Since.IsZero() {
		restrict("started_at >= ?", q.Since.UnixNano())
	}
	if !q.Until.IsZero() {
		restrict("started_at < ?", q.Until.UnixNano())
	}
	if q.Text != "" {
		restrict("instr(words, ?) > 0", strings.ToLower(q.Text))
	}
	if q.SuggestionOpen {
		restrict("suggestion_open = 1")
	}
	if q.Waiting {
		restrict("status = ?", string(recovery.StatusWaiting))
	}
	if !q.Due.IsZero() {
		restrict("n IN ("+mayBeDue+")", nanos.Of(q.Due)) // it uses indexes
		restrict("(due_at <= ? OR inbox > heard)", nanos.Of(q.Due))
		restrict("(lock <> ? OR expires <= ?)", s.holding(), time.Now().UnixNano())
	}
	needs(q, restrict)
	if err := s.rare(ctx, q, restrict); err != nil {
		return "", nil, err
	}
	if q.Before != "" {
		h, err := s.find(ctx, q.Before)
		if err != nil {
			return "", nil, err
		}
		if q.Oldest {
			restrict("n > ?", h.n)
		} else {
			restrict("n < ?", h.n)
		}
	}
	return strings.Join(where, " AND "), args, nil
}

// needs restricts the list to runs whose needs a machine can meet.
func needs(q timeline.Query, restrict func(condition string, values ...any)) {
	if able := q.AbleText(); able != nil {
		restrict(`NOT EXISTS (SELECT 1 FROM json_each(iif(needs = '', '{}', needs)) AS need
			WHERE NOT EXISTS (SELECT 1 FROM json_each(?) AS has WHERE has.key = need.key AND has.value = need.value))`, *able)
	}
	if q.Needing {
		restrict("needs <> ''")
	}
}

// holding is the id of the lock that this process holds. A process that only reads has none, and
// gets a name that no lock has.
func (s *store) holding() string {
	if s.lock == nil {
		return "-"
	}
	return s.lock.id
}

// holders is holds for many runs at the same time; it looks at each owner's lock only once.
func (s *store) holders() func(h *head) bool {
	now, living := time.Now(), map[string]bool{s.holding(): true}
	return func(h *head) bool {
		if h.Owner == "" || !h.expires.After(now) {
			return false
		}
		lives, known := living[h.lock]
		if !known {
			lives = alive(s.dir, h.lock)
			living[h.lock] = lives
		}
		return lives
	}
}
