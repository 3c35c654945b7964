package timeline

import (
	"context"
	"errors"

	"github.com/mulligan-run/mulligan/recovery"
)

// Import is Log.Import: the run begins with all its events, and has no owner.
func (j *Journal) Import(ctx context.Context, events ...recovery.Event) error {
	i, err := NewImport(events)
	if err != nil {
		return err
	}
	a := newAppend(Lease{Run: i.Run, Epoch: i.Epoch}, 0, events)
	a.Begins = &Beginning{Inbox: i.Inbox}
	for tries := 1; ; tries++ {
		err := j.write(ctx, a)
		late, ok := errors.AsType[*StaleError](err)
		switch {
		case err == nil:
			j.known.forget(i.Run)
			return nil
		case errors.Is(err, ErrConflict), errors.Is(err, ErrOwned):
			return j.unlessThere(ctx, a, &differsError{Run: i.Run})
		case !ok || tries == beginTries:
			return err
		}
		a.Lease.Epoch = late.Newest + 1
	}
}
