package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// head is a row of the table runs.
type head struct {
	n       int64
	lock    string
	epoch   uint64
	expires time.Time
	inbox   uint64
	timeline.Summary
}

const (
	headColumns    = "n, epoch, lock, expires, inbox, " + summaryColumns
	summaryColumns = `run, owner, seq, session, model, title, status,
	started_at, updated_at, waiting_for, waiting_until, due_at, suggestion_open, asking, ended`
)

type row interface{ Scan(dest ...any) error }

// scanHead reads a row of headColumns; run is who was asked for.
func scanHead(r row, run string) (*head, error) {
	h := &head{}
	var expires int64
	err := scanSummary(after{r, []any{&h.n, &h.epoch, &h.lock, &expires, &h.inbox}}, &h.Summary)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(&timeline.NotFoundError{Run: run})
	}
	h.expires = fromNanos(expires)
	return h, err
}

// scanSummary reads a row of summaryColumns into types that database/sql need not convert,
// which is dear in a long list.
func scanSummary(r row, s *timeline.Summary) error {
	var seq, started, updated, waiting, due, suggestion, ended int64
	var status, waitingFor string
	err := r.Scan(&s.Run, &s.Owner, &seq, &s.Session, &s.Model, &s.Title, &status,
		&started, &updated, &waitingFor, &waiting, &due, &suggestion, &s.Asking, &ended)
	s.Seq, s.Status, s.WaitingFor = uint64(seq), recovery.Status(status), recovery.WaitFor(waitingFor) //nolint:gosec // we wrote it
	s.StartedAt, s.UpdatedAt, s.WaitingUntil, s.DueAt = fromNanos(started), fromNanos(updated), fromNanos(waiting), fromNanos(due)
	s.SuggestionOpen, s.Ended = suggestion != 0, ended != 0
	return err
}

// after is a row whose first columns are scanned apart from the others.
type after struct {
	row
	first []any
}

// Scan scans the others.
func (a after) Scan(dest ...any) error { return a.row.Scan(append(a.first, dest...)...) }

// save writes back what the summary has become since it was before. Most events move
// nothing but its end, which spares the indexes of the rest.
func (h *head) save(ctx context.Context, st *statements, before timeline.Summary) error {
	before.Seq, before.UpdatedAt, before.DueAt = h.Seq, h.UpdatedAt, h.DueAt
	if before == h.Summary {
		_, err := st.moved.ExecContext(ctx, h.Seq, toNanos(h.UpdatedAt), toNanos(h.DueAt), h.n)
		return err
	}
	_, err := st.summary.ExecContext(ctx, h.Seq, h.Session, h.Model, h.Title, string(h.Status), toNanos(h.StartedAt), toNanos(h.UpdatedAt),
		string(h.WaitingFor), toNanos(h.WaitingUntil), toNanos(h.DueAt), h.SuggestionOpen, h.Asking, h.Ended, h.n)
	return err
}

// lend gives the run to owner, whose lock is that, until it expires; to nobody if they
// are empty.
func (h *head) lend(ctx context.Context, st *statements, epoch uint64, owner, lock string, expires time.Time) error {
	h.epoch, h.Owner, h.lock, h.expires = epoch, owner, lock, expires
	_, err := st.lease.ExecContext(ctx, epoch, owner, lock, toNanos(expires), h.n)
	return err
}

// hear moves the end of the run's inbox to n.
func (h *head) hear(ctx context.Context, st *statements, n uint64) error {
	h.inbox = n
	_, err := st.inbox.ExecContext(ctx, n, h.n)
	return err
}

// owned finds the run of a lease that is its newest.
func owned(ctx context.Context, st *statements, l timeline.Lease) (*head, error) {
	h, err := st.find(ctx, l.Run)
	if err != nil {
		return nil, err
	}
	if h.epoch != l.Epoch || h.Owner != l.Owner {
		return nil, refuse(&timeline.StaleError{Run: l.Run, Epoch: l.Epoch, Newest: h.epoch, Owner: h.Owner})
	}
	return h, nil
}

// Times are Unix nanoseconds, 0 for none. A time outside of 1678–2262 does not fit
// and is none.
func toNanos(t time.Time) int64 {
	if y := t.Year(); y < 1678 || y > 2261 {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
