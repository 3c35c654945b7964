package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// headColumns are the columns of a timeline.Head, from mulligan.runs AS runs.
const headColumns = `runs.run, runs.epoch, runs.inbox, runs.owner, runs.seq, runs.session, runs.model, runs.title, runs.labels, runs.status,
	runs.started_at, runs.updated_at, runs.waiting_for, runs.waiting_until, runs.due_at, runs.suggestion_open, runs.asking, runs.ended, runs.heard,
	runs.kind, runs.problem, runs.decided_by, runs.course, runs.needs`

// headScan reads rows of headColumns, which come after the columns that are scanned into first.
type headScan struct {
	h                              timeline.Head
	labels, status, waitingFor     string
	kind, course, needs            string
	started, updated, waiting, due int64
	dest                           []any
}

func newHeadScan(first ...any) *headScan {
	s := &headScan{dest: first}
	h := &s.h
	s.dest = append(
		s.dest, &h.Run, &h.Epoch, &h.Inbox, &h.Owner, &h.Seq, &h.Session, &h.Model, &h.Title, &s.labels, &s.status,
		&s.started, &s.updated, &s.waitingFor, &s.waiting, &s.due, &h.SuggestionOpen, &h.Asking, &h.Ended, &h.Heard,
		&s.kind, &h.Problem, &h.DecidedBy, &s.course, &s.needs,
	)
	return s
}

func (s *headScan) read(rows pgx.Rows) (timeline.Head, error) {
	err := rows.Scan(s.dest...)
	h := s.h
	h.Labels, h.Status, h.WaitingFor = timeline.LabelText(s.labels), recovery.Status(s.status), recovery.WaitFor(s.waitingFor)
	h.StartedAt, h.UpdatedAt, h.WaitingUntil, h.DueAt = nanos.Time(s.started), nanos.Time(s.updated), nanos.Time(s.waiting), nanos.Time(s.due)
	h.Kind, h.Course, h.Needs = failure.Kind(s.kind), timeline.CourseText(s.course), timeline.LabelText(s.needs)
	return h, err
}

// Heads implements timeline.Store.
func (s *Store) Heads(ctx context.Context, runs ...string) ([]timeline.Head, error) {
	var heads []timeline.Head
	scan := newHeadScan()
	err := s.query(ctx, func(rows pgx.Rows) error {
		h, err := scan.read(rows)
		heads = append(heads, h)
		return err
	}, "SELECT "+headColumns+" FROM mulligan.runs AS runs WHERE run = ANY($1)", fitting(runs))
	return heads, err
}

// known fails if the run does not exist.
func (s *Store) known(ctx context.Context, run string) error {
	heads, err := s.Heads(ctx, run)
	if err == nil && len(heads) == 0 {
		err = &timeline.NotFoundError{Run: run}
	}
	return err
}

// Read implements timeline.Store.
func (s *Store) Read(ctx context.Context, run string, after uint64, limit int) ([]recovery.Event, error) {
	if fits(run) != nil {
		return nil, &timeline.NotFoundError{Run: run}
	}
	var events []recovery.Event
	last := after
	err := s.query(ctx, func(rows pgx.Rows) error {
		var stored []byte
		if err := rows.Scan(&stored); err != nil {
			return err
		}
		e, err := timeline.Restored(run, last, stored)
		if err != nil {
			return err
		}
		last = e.Seq
		events = append(events, e)
		return nil
	}, "SELECT event FROM mulligan.events WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3", run, bigint(after), orAll(limit))
	if err == nil && len(events) == 0 {
		err = s.known(ctx, run)
	}
	if err != nil {
		return nil, err
	}
	return events, nil
}

// Inbox implements timeline.Store.
func (s *Store) Inbox(ctx context.Context, run string, after uint64, limit int) ([]timeline.Command, error) {
	if fits(run) != nil {
		return nil, &timeline.NotFoundError{Run: run}
	}
	var commands []timeline.Command
	err := s.query(ctx, func(rows pgx.Rows) error {
		var c timeline.Command
		var id, stored []byte
		if err := rows.Scan(&c.N, &id, &stored); err != nil {
			return err
		}
		var e recovery.Event
		err := json.Unmarshal(stored, &e)
		c.ID, c.Body = string(id), e.Body
		commands = append(commands, c)
		return err
	}, "SELECT n, id, body FROM mulligan.commands WHERE run = $1 AND n > $2 ORDER BY n LIMIT $3", run, bigint(after), orAll(limit))
	if err == nil && len(commands) == 0 {
		err = s.known(ctx, run)
	}
	return commands, err
}

// Moved implements timeline.Shared. From the first call on, the store is told what others write.
func (s *Store) Moved(ctx context.Context, runs []string) (moved []timeline.Moved, news bool, err error) {
	if s.bell != nil && s.ctx.Err() == nil {
		s.bell.first.Do(func() { s.working.Go(func() { s.bell.listen(s.ctx) }) })
	}
	err = s.query(ctx, func(rows pgx.Rows) error {
		var m timeline.Moved
		err := rows.Scan(&m.Run, &m.Seq, &m.Inbox, &m.Attempt, &m.Said, &m.Member)
		moved = append(moved, m)
		return err
	}, `SELECT runs.run, runs.seq, inbox, coalesce(attempt, 0), coalesce(length(tails.text), 0),
			CASE WHEN runs.owner <> '' AND runs.member <> $2 AND NOT runs.ended THEN runs.member ELSE '' END
		FROM mulligan.runs AS runs LEFT JOIN mulligan.tails AS tails USING (run) WHERE runs.run = ANY($1)`, fitting(runs), s.member)
	return moved, err == nil, err
}

// orAll is a limit as the database takes it: NULL, no limit, for 0.
func orAll(limit int) *int {
	if limit <= 0 {
		return nil
	}
	return &limit
}

// bigint is n, or a number that is larger than any in use.
func bigint(n uint64) int64 { return int64(min(n, 1<<62)) } //nolint:gosec // it fits

// fits says why a run's id cannot be in the database, which accepts only UTF-8 without zero bytes.
func fits(run string) error {
	if !utf8.ValidString(run) || strings.Contains(run, "\x00") {
		return fmt.Errorf("run %q: its id has bytes that cannot be stored", run)
	}
	return nil
}

func fitting(runs []string) []string {
	some := make([]string, 0, len(runs))
	for _, run := range runs {
		if fits(run) == nil {
			some = append(some, run)
		}
	}
	return some
}

// text is s in a form that the database accepts.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// interval is d as a value of the type interval.
func interval(d time.Duration) string {
	return fmt.Sprintf("%d microseconds", (d + 999).Microseconds())
}
