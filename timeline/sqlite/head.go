package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// head is a row of the view heads.
type head struct {
	n       int64
	lock    string
	epoch   uint64
	expires time.Time
	inbox   uint64
	piece   uint64 // seq of the first event of the piece that the next small event goes to; 0 = a new piece
	tail    bool   // tails may have a row for it
	timeline.Summary
}

var (
	summaryNumbers = []string{"seq", "started_at", "updated_at", "waiting_until", "due_at", "suggestion_open", "ended", "heard"}
	summaryTexts   = []string{
		"run", "owner", "session", "model", "title", "status", "waiting_for", "asking", "labels", "kind", "problem", "decided_by", "course", "needs",
	}
	summaryColumns = joined(summaryNumbers, summaryTexts)
	headColumns    = joined(append([]string{"n", "epoch", "expires", "inbox"}, summaryNumbers...), append([]string{"lock"}, summaryTexts...))
	selectHead     = "SELECT " + headColumns + " FROM heads WHERE run = ?"
)

type row interface{ Scan(dest ...any) error }

// scanHead reads a row of headColumns; run is the run that was asked for.
func scanHead(r row, run string) (*head, error) {
	h, err := newHeadScan().read(r)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(&timeline.NotFoundError{Run: run})
	}
	return h, err
}

// headScan reads rows of headColumns.
type headScan struct {
	n, epoch, expires, inbox int64
	lock                     string
	summary                  *summaryScan
}

func newHeadScan() *headScan {
	s := &headScan{summary: newSummaryScan()}
	all := &s.summary.joined
	all.numbers = append([]*int64{&s.n, &s.epoch, &s.expires, &s.inbox}, all.numbers...)
	all.texts = append([]*string{&s.lock}, all.texts...)
	return s
}

func (s *headScan) read(r row) (*head, error) {
	summary, err := s.summary.read(r)
	return &head{
		n: s.n, lock: s.lock, expires: nanos.Time(s.expires), Summary: summary,
		epoch: uint64(s.epoch), inbox: uint64(s.inbox), //nolint:gosec // our own data
	}, err
}

// summaryScan reads rows of summaryColumns, which come after the columns that are scanned into
// first.
type summaryScan struct {
	run, owner, session, model, title, status, waitingFor, asking, labels string
	kind, problem, decidedBy, course, needs                               string
	seq, started, updated, waiting, due, suggestion, ended, heard         int64

	joined joinedScan
	dest   []any
}

func newSummaryScan(first ...any) *summaryScan {
	s := &summaryScan{dest: first}
	s.joined.numbers = []*int64{&s.seq, &s.started, &s.updated, &s.waiting, &s.due, &s.suggestion, &s.ended, &s.heard}
	s.joined.texts = []*string{
		&s.run, &s.owner, &s.session, &s.model, &s.title, &s.status, &s.waitingFor, &s.asking, &s.labels,
		&s.kind, &s.problem, &s.decidedBy, &s.course, &s.needs,
	}
	s.dest = append(s.dest, &s.joined.from)
	return s
}

func (s *summaryScan) read(r row) (timeline.Summary, error) {
	err := r.Scan(s.dest...)
	if err == nil {
		err = s.joined.split()
	}
	return timeline.Summary{
		Run: s.run, Session: s.session, Model: s.model, Title: s.title, Labels: timeline.LabelText(s.labels), Status: recovery.Status(s.status),
		StartedAt: nanos.Time(s.started), UpdatedAt: nanos.Time(s.updated),
		Seq: uint64(s.seq), Heard: uint64(s.heard), //nolint:gosec // our own data
		SuggestionOpen: s.suggestion != 0, Asking: s.asking, Ended: s.ended != 0, Owner: s.owner,
		WaitingFor: recovery.WaitFor(s.waitingFor), WaitingUntil: nanos.Time(s.waiting), DueAt: nanos.Time(s.due),
		Kind: failure.Kind(s.kind), Problem: s.problem, DecidedBy: s.decidedBy, Course: timeline.CourseText(s.course), Needs: timeline.LabelText(s.needs),
	}, err
}

// save stores the run's new summary. Most events change only its last part, which leaves the
// indexes of the other columns alone. If the last event is in recent, the view heads finds that part
// there.
func (h *head) save(ctx context.Context, st *statements, now timeline.Summary, recent bool) error {
	before := h.Summary
	h.Summary = now
	h.Owner = before.Owner
	found := recent && before.Seq > 0 && !before.Ended && h.dueFollows(before) && (h.Course != "" || before.Course == "")
	before.Seq, before.UpdatedAt, before.DueAt, before.Course = h.Seq, h.UpdatedAt, h.DueAt, h.Course
	var err error
	switch {
	case before != h.Summary:
		_, err = st.summary.ExecContext(ctx, append(summaryRow(&h.Summary), h.n)...)
	case !found:
		_, err = st.moved.ExecContext(ctx, h.Seq, nanos.Of(h.UpdatedAt), nanos.Of(h.DueAt), string(h.Course), h.n)
	}
	return err
}

// storedColumns are the columns of runs that hold a run's summary, with what it is found by.
var storedColumns = []string{
	"seq", "session", "model", "title", "status", "started_at", "updated_at", "waiting_for", "waiting_until", "due_at", "suggestion_open",
	"asking", "ended", "heard", "labels", "kind", "problem", "decided_by", "course", "words", "needs",
}

// summaryRow are the values of storedColumns.
func summaryRow(s *timeline.Summary) []any {
	return []any{
		s.Seq, s.Session, s.Model, s.Title, string(s.Status), nanos.Of(s.StartedAt), nanos.Of(s.UpdatedAt), string(s.WaitingFor),
		nanos.Of(s.WaitingUntil), nanos.Of(s.DueAt), s.SuggestionOpen, s.Asking, s.Ended, s.Heard, string(s.Labels),
		string(s.Kind), s.Problem, s.DecidedBy, string(s.Course), s.Words(), string(s.Needs),
	}
}

// placeholders are those of n values.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// dueFollows reports whether the view heads computes the new DueAt by itself: the time of the last
// event if DueAt was that before, otherwise the same as before.
func (h *head) dueFollows(before timeline.Summary) bool {
	due := nanos.Of(before.DueAt)
	if due == nanos.Of(before.UpdatedAt) {
		due = nanos.Of(h.UpdatedAt)
	}
	return nanos.Of(h.DueAt) == due
}

// lend gives the run to owner, whose lock is lock, until it expires; to nobody if they are empty.
func (h *head) lend(ctx context.Context, st *statements, epoch uint64, owner, lock string, expires time.Time) error {
	h.epoch, h.Owner, h.lock, h.expires = epoch, owner, lock, expires
	_, err := st.lease.ExecContext(ctx, epoch, owner, lock, nanos.Of(expires), h.n)
	return err
}

// hear moves the end of the run's inbox to n.
func (h *head) hear(ctx context.Context, st *statements, n uint64) error {
	h.inbox = n
	_, err := st.inbox.ExecContext(ctx, n, h.n)
	return err
}

// head is h in the form that a Journal uses.
func (h *head) head() timeline.Head {
	return timeline.Head{Summary: h.Summary, Epoch: h.epoch, Inbox: h.inbox}
}

// owned finds the run of a lease that is the run's newest.
func (st *statements) owned(ctx context.Context, l timeline.Lease) (*head, error) {
	h, err := st.find(ctx, l.Run)
	if err != nil {
		return nil, err
	}
	return h, newest(h, l)
}
