package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// snapshotWorth is the number of events after which a snapshot is saved.
const snapshotWorth = 256

// conversationWorth is how many runs must be read for a conversation to make it worth a snapshot of
// all of it.
const conversationWorth = 32

// Inspect gives a run as it is in the timeline, with the conversation that it continues and the
// text so far of an attempt in the air.
func (r *Runner) Inspect(ctx context.Context, id string) (*recovery.Run, error) {
	run, err := r.fold(ctx, id)
	if err != nil {
		return nil, err
	}
	if a := run.Attempt; a != nil && a.InAir() {
		tail, err := r.log.LoadTail(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", id, err)
		}
		if tail.Attempt == a.ID {
			a.Text += tail.Text
		}
	}
	return run.Run, nil
}

// folded is a run as it is in the timeline.
type folded struct {
	*recovery.Run
	saved  uint64 // seq of the last event in its snapshot
	behind int    // how many runs were read for the conversation that it continues
}

func (r *Runner) fold(ctx context.Context, id string) (*folded, error) {
	f := folder{r: r, behind: map[string]bool{}}
	run, saved, err := f.fold(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	return &folded{Run: run, saved: saved, behind: len(f.behind)}, nil
}

// folder reads a run and the runs that it continues.
type folder struct {
	r      *Runner
	behind map[string]bool // runs that were read and still need the ones that they continue
}

// fold gives a run as it was after event seq, or as it is now if seq is 0, and the seq up to which
// it came from a snapshot.
func (f *folder) fold(ctx context.Context, id string, seq uint64) (run *recovery.Run, saved uint64, err error) {
	run, saved, err = f.r.restore(ctx, id, seq)
	if err != nil {
		return nil, 0, fmt.Errorf("run %s: %w", id, err)
	}
	known := run.Seq
	if err := f.carry(ctx, run); err != nil {
		return nil, 0, err
	}
	for more := seq == 0 || seq > known; more; {
		limit := foldPage
		if seq > 0 {
			limit = int(min(foldPage, seq-run.Seq)) //nolint:gosec // a number of events
		}
		n, err := f.page(ctx, id, run, limit)
		if err != nil {
			return nil, 0, err
		}
		more = n == limit && run.Seq != seq
	}
	if run.Seq-known >= recallWorth {
		f.r.recall.keep(run)
	}
	return run, saved, nil
}

// page applies the run's next events, and returns their number.
func (f *folder) page(ctx context.Context, id string, run *recovery.Run, limit int) (int, error) {
	events, err := f.r.log.Read(ctx, id, run.Seq, limit)
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", id, err)
	}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			return 0, err
		}
		if err := f.carry(ctx, run); err != nil {
			return 0, err
		}
	}
	return len(events), nil
}

// restore gives a run from its snapshot, if there is one of this version that is not after event
// seq, or from this process's recall; otherwise an empty run. saved is the seq of the snapshot.
func (r *Runner) restore(ctx context.Context, id string, seq uint64) (run *recovery.Run, saved uint64, err error) {
	at, data, err := r.log.LoadSnapshot(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	if seq > 0 && at > seq {
		at = 0
	}
	if run, ok := r.recalled(ctx, id, at, seq); ok {
		return run, at, nil
	}
	if at > 0 {
		if run, ok := recovery.Restore(data); ok && run.ID == id && run.Seq == at {
			return run, at, nil
		}
	}
	return &recovery.Run{}, 0, nil
}

// carry puts the conversation that run continues in front of its transcript, once its first event
// has named it. Runs that were deleted are missing in it.
func (f *folder) carry(ctx context.Context, run *recovery.Run) error {
	if run.Seq == 0 || run.Whole() {
		return nil
	}
	f.behind[run.ID] = true
	head := *run.Continues
	if f.behind[head.Run] {
		return fmt.Errorf("run %s continues run %s, which continues it: %w", run.ID, head.Run, timeline.ErrDamaged)
	}
	before, _, err := f.fold(ctx, head.Run, head.Seq)
	switch {
	case errors.Is(err, timeline.ErrNotFound):
		run.Carry(nil)
	case err != nil:
		return err
	default:
		run.Carry(before.Conversation())
	}
	return nil
}

// saveSnapshot saves the run if enough has happened since it was last saved: while it is driven, as
// many events as the snapshot itself covers, so that all snapshots together cost no more than the
// run. Without a snapshot the next reader only folds more events.
func (l *loop) saveSnapshot(ctx context.Context) {
	if l.run.Seq-l.saved >= max(l.saved, snapshotWorth) {
		l.save(ctx, false)
	}
}

// saveLast saves the run when it stops being driven here. If its conversation came from many runs,
// the snapshot also holds the conversation, so that no reader has to read them again.
func (l *loop) saveLast(ctx context.Context) {
	if many := l.behind >= conversationWorth; many || l.run.Seq-l.saved >= snapshotWorth {
		l.save(ctx, many)
	}
}

func (l *loop) save(ctx context.Context, carried bool) {
	l.saved = l.run.Seq // the next one is due only later, even if this one cannot be saved
	ctx, cancel := context.WithTimeout(ctx, storeSlow)
	defer cancel()
	data, err := l.run.Snapshot(carried)
	if err == nil {
		err = l.r.log.SaveSnapshot(ctx, l.lease, l.run.Seq, data)
	}
	if err != nil {
		l.r.logger.Warn("no snapshot was saved", "run", l.id, "after", l.run.Seq, "err", err)
	}
}
