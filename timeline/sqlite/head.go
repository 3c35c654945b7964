package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// head is a row of the view heads.
type head struct {
	n       int64
	lock    string
	epoch   uint64
	expires time.Time
	inbox   uint64
	piece   uint64 // seq of the first event of the piece that the next small one belongs to; 0 = a new one
	timeline.Summary
}

const (
	headColumns    = "n, epoch, lock, expires, inbox, " + summaryColumns
	summaryColumns = `run, owner, seq, session, model, title, status,
	started_at, updated_at, waiting_for, waiting_until, due_at, suggestion_open, asking, ended, heard`
	selectHead = "SELECT " + headColumns + " FROM heads WHERE run = ?"
)

type row interface{ Scan(dest ...any) error }

// scanHead reads a row of headColumns; run is who was asked for.
func scanHead(r row, run string) (*head, error) {
	h, err := newHeadScan().read(r)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(&timeline.NotFoundError{Run: run})
	}
	return h, err
}

// headScan reads rows of headColumns.
type headScan struct {
	n, expires   int64
	epoch, inbox uint64
	lock         string
	summary      *summaryScan
}

func newHeadScan() *headScan {
	s := &headScan{}
	s.summary = newSummaryScan(&s.n, &s.epoch, &s.lock, &s.expires, &s.inbox)
	return s
}

func (s *headScan) read(r row) (*head, error) {
	summary, err := s.summary.read(r)
	return &head{n: s.n, epoch: s.epoch, lock: s.lock, expires: fromNanos(s.expires), inbox: s.inbox, Summary: summary}, err
}

// summaryScan reads rows of summaryColumns, after those that are scanned into first. In a
// long list it is dear to convert a column, and to make anew where it is scanned into.
type summaryScan struct {
	run, owner, session, model, title, status, waitingFor, asking string
	seq, started, updated, waiting, due, suggestion, ended        int64
	heard                                                         uint64

	dest []any
}

func newSummaryScan(first ...any) *summaryScan {
	s := &summaryScan{dest: first}
	s.dest = append(
		s.dest, &s.run, &s.owner, &s.seq, &s.session, &s.model, &s.title, &s.status,
		&s.started, &s.updated, &s.waitingFor, &s.waiting, &s.due, &s.suggestion, &s.asking, &s.ended, &s.heard,
	)
	return s
}

func (s *summaryScan) read(r row) (timeline.Summary, error) {
	err := r.Scan(s.dest...)
	return timeline.Summary{
		Run: s.run, Session: s.session, Model: s.model, Title: s.title, Status: recovery.Status(s.status),
		StartedAt: fromNanos(s.started), UpdatedAt: fromNanos(s.updated),
		Seq:            uint64(s.seq), //nolint:gosec // we wrote it
		SuggestionOpen: s.suggestion != 0, Asking: s.asking, Ended: s.ended != 0, Owner: s.owner, Heard: s.heard,
		WaitingFor: recovery.WaitFor(s.waitingFor), WaitingUntil: fromNanos(s.waiting), DueAt: fromNanos(s.due),
	}, err
}

// save writes back what the summary has become since it was before. Most events move
// nothing but its end, which spares the indexes of the rest; and if the last one lies in
// recent, the view heads finds the end there.
func (h *head) save(ctx context.Context, st *statements, before timeline.Summary, recent bool) error {
	begun, followed := before.Seq > 0 && !before.Ended, h.dueFollows(before)
	before.Seq, before.UpdatedAt, before.DueAt = h.Seq, h.UpdatedAt, h.DueAt
	if before == h.Summary {
		if recent && begun && followed {
			return nil
		}
		_, err := st.moved.ExecContext(ctx, h.Seq, toNanos(h.UpdatedAt), toNanos(h.DueAt), h.n)
		return err
	}
	_, err := st.summary.ExecContext(ctx, h.Seq, h.Session, h.Model, h.Title, string(h.Status), toNanos(h.StartedAt), toNanos(h.UpdatedAt),
		string(h.WaitingFor), toNanos(h.WaitingUntil), toNanos(h.DueAt), h.SuggestionOpen, h.Asking, h.Ended, h.Heard, h.n)
	return err
}

// dueFollows reports whether DueAt has become what the view heads makes of what it was
// before: the time of the last event if it was that already, and else the same.
func (h *head) dueFollows(before timeline.Summary) bool {
	due := toNanos(before.DueAt)
	if due == toNanos(before.UpdatedAt) {
		due = toNanos(h.UpdatedAt)
	}
	return toNanos(h.DueAt) == due
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

// lease is the newest of the run.
func (h *head) lease() timeline.Lease {
	return timeline.Lease{Run: h.Run, Owner: h.Owner, Epoch: h.epoch, Expires: h.expires}
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
