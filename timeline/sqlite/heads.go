package sqlite

import (
	"context"
	"errors"
	"math"
	"time"

	"modernc.org/sqlite"

	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
)

// maxHeads is how many runs the committer remembers at most.
const maxHeads = 4096

// heads are the rows of runs that the committer has read or written and that no other process has
// changed since then, as the current transaction has left them.
type heads struct {
	known map[string]*head
	at    uint32 // the version of the database that they are from
}

// refresh makes sure, at the beginning of a transaction, that no other process has written since
// the end of the last one.
func (st *statements) refresh() error {
	version, err := st.dataVersion()
	if version != st.at {
		st.forget()
	}
	return err
}

// committed remembers the version that a transaction of the writer's own has left.
func (st *statements) committed() {
	st.at, _ = st.dataVersion() // after an error it is 0, which refresh takes for somebody else's
}

// dataVersion is the version of the writer's view of the database. Its own commits change it too,
// unlike PRAGMA data_version, which takes ten times as long.
func (st *statements) dataVersion() (version uint32, err error) {
	err = st.writer.Raw(func(conn any) error {
		version, err = conn.(sqlite.FileControl).FileControlDataVersion("main") //nolint:errcheck // the driver's connections have it
		return err
	})
	return version, err
}

// find looks a run up. Code that changes the run's row must also change the result of find.
func (st *statements) find(ctx context.Context, run string) (*head, error) {
	if h, ok := st.known[run]; ok {
		return h, nil
	}
	h, err := scanHead(st.head.QueryRowContext(ctx, run), run)
	if err != nil {
		return nil, err
	}
	h.tail = true
	st.know(h)
	return h, nil
}

// unknownPosition is the position of an unknown run: after all others.
const unknownPosition = math.MaxInt64

// findOrNew is find; an unknown run gets unknownPosition.
func (st *statements) findOrNew(ctx context.Context, run string) (*head, error) {
	h, err := st.find(ctx, run)
	if errors.Is(err, timeline.ErrNotFound) {
		return &head{n: unknownPosition, Summary: timeline.Summary{Run: run}}, nil
	}
	return h, err
}

// claim gives the run to owner with that epoch, and inserts the row if the run is new.
func (h *head) claim(ctx context.Context, st *statements, epoch uint64, owner, lock string, expires time.Time) error {
	if h.n != unknownPosition {
		return h.lend(ctx, st, epoch, owner, lock, expires)
	}
	r, err := st.claim.ExecContext(ctx, h.Run, epoch, owner, lock, nanos.Of(expires))
	if err != nil {
		return err
	}
	h.epoch, h.Owner, h.lock, h.expires = epoch, owner, lock, expires
	h.n, err = r.LastInsertId()
	st.know(h)
	return err
}

func (st *statements) know(h *head) {
	if len(st.known) >= maxHeads {
		st.forget()
	}
	st.known[h.Run] = h
}

// forget drops all rows, since they may differ from what find returned.
func (st *statements) forget() { clear(st.known) }
