package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// conditions are those of a query: text that is written in this package, and values.
type conditions struct {
	text []string
	args []any
}

// add adds a condition in which each %s stands for a value.
func (c *conditions) add(condition string, values ...any) {
	places := make([]any, len(values))
	for i, v := range values {
		c.args = append(c.args, v)
		places[i] = fmt.Sprintf("$%d", len(c.args))
	}
	c.text = append(c.text, fmt.Sprintf(condition, places...))
}

// course adds the conditions about how the runs went.
func (c *conditions) course(q timeline.Query) {
	if q.Model != "" {
		c.add("model = %s", text(q.Model))
	}
	if q.Kind != "" {
		c.add("kind = %s AND kind <> ''", text(string(q.Kind)))
	}
	if q.DecidedBy != "" {
		c.add("decided_by = %s AND decided_by <> ''", text(q.DecidedBy))
	}
	if !q.Since.IsZero() {
		c.add("started_at >= %s", nanos.Of(q.Since))
	}
	if !q.Until.IsZero() {
		c.add("started_at < %s", nanos.Of(q.Until))
	}
	if q.Text != "" {
		c.add("position(%s in words) > 0", text(strings.ToLower(q.Text)))
	}
}

// among says that what a run needs is among the labels in a value of a statement; NULL stands for
// all labels.
func among(value string) string {
	return "(nullif(needs, '')::jsonb <@ " + value + "::jsonb) IS NOT FALSE"
}

// List implements timeline.Store.
func (s *Store) List(ctx context.Context, q timeline.Query) ([]timeline.Summary, error) {
	where := conditions{text: []string{"seq > 0"}}
	if q.Status != "" {
		where.add("status = %s", text(string(q.Status)))
	}
	if q.Session != "" {
		where.add("session <> '' AND session = %s", text(q.Session))
	}
	for _, pair := range q.LabelTexts() {
		where.add("position(%s in labels) > 0", text(pair))
	}
	where.course(q)
	if q.SuggestionOpen {
		where.add("suggestion_open")
	}
	if q.Waiting {
		where.add("status = %s", string(recovery.StatusWaiting))
	}
	if !q.Due.IsZero() {
		where.add("(due_from > 0 AND due_from <= %s AND due_at <= %s OR inbox > heard AND NOT ended)", nanos.Of(q.Due), nanos.Of(q.Due))
		where.add("(owner = '' OR " + ends + " <= clock_timestamp())")
	}
	if able := q.AbleText(); able != nil {
		where.add(among("%s"), *able)
	}
	if q.Needing {
		where.add("needs <> ''")
	}
	if err := s.rare(ctx, q, &where); err != nil {
		return nil, err
	}
	if q.Before != "" {
		if err := s.known(ctx, q.Before); err != nil {
			return nil, err
		}
		after := "(born, run) < (SELECT born, run FROM mulligan.runs WHERE run = %s)"
		if q.Oldest {
			after = strings.Replace(after, "<", ">", 1)
		}
		where.add(after, q.Before)
	}
	order := "born DESC, run DESC"
	if q.Oldest {
		order = "born, run"
	}
	if q.ByDueAt() {
		order = "due_at, born, run"
	}
	var list []timeline.Summary
	scan := newHeadScan()
	err := s.query(ctx, func(rows pgx.Rows) error {
		h, err := scan.read(rows)
		list = append(list, h.Summary)
		return err
	}, fmt.Sprintf("SELECT %s FROM mulligan.runs AS runs WHERE %s ORDER BY %s LIMIT $%d",
		headColumns, strings.Join(where.text, " AND "), order, len(where.args)+1), append(where.args, q.Limit)...)
	return list, err
}

// sameSession are the runs of a run's session that have begun.
const sameSession = "each.session = runs.session AND each.session <> '' AND each.seq > 0"

// Sessions implements timeline.Store. A session is found by its last run, in the order of the runs'
// age. What the other runs have is looked up only for the sessions that are listed.
func (s *Store) Sessions(ctx context.Context, limit int) ([]timeline.SessionSummary, error) {
	var list []timeline.SessionSummary
	var runs int
	var title string
	var kept []byte
	scan := newHeadScan(&runs, &title, &kept)
	err := s.query(ctx, func(rows pgx.Rows) error {
		h, err := scan.read(rows)
		list = append(list, timeline.SessionSummary{ID: h.Session, Title: title, Runs: runs, Last: h.Summary, Kept: kept})
		return err
	}, `SELECT (SELECT count(*) FROM mulligan.runs AS each WHERE `+sameSession+`),
			(SELECT each.title FROM mulligan.runs AS each WHERE `+sameSession+` ORDER BY turn LIMIT 1),
			(SELECT data FROM mulligan.sessions AS kept WHERE kept.session = runs.session), `+headColumns+`
		FROM mulligan.runs AS runs WHERE session <> '' AND seq > 0
			AND NOT EXISTS (SELECT FROM mulligan.runs AS each WHERE `+sameSession+` AND each.turn > runs.turn)
		ORDER BY born DESC, run DESC LIMIT $1`, limit)
	return list, err
}
