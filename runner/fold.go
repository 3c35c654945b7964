package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// snapshotWorth is how many events are worth a snapshot.
const snapshotWorth = 256

// conversationWorth is how many runs that were read for a conversation are worth a snapshot
// that has all of it.
const conversationWorth = 32

// Inspect gives a run as it is in the timeline, with the conversation that it continues, and
// what an attempt in the air has said so far.
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
	saved  uint64 // the last event that its snapshot has
	behind int    // runs that were read for what it continues
}

func (r *Runner) fold(ctx context.Context, id string) (*folded, error) {
	f := folder{r: r, behind: map[string]bool{}}
	run, saved, err := f.fold(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	return &folded{Run: run, saved: saved, behind: len(f.behind)}, nil
}

// folder reads a run and those that it continues, one over the other.
type folder struct {
	r      *Runner
	behind map[string]bool // that are read, and want what they continue
}

// fold gives a run as it is after event seq, 0 for its last one, and how much of that a
// snapshot knew.
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

// page applies the run's next events, and gives how many there were.
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

// restore gives a run as its snapshot has it, if there is one of this version and not after
// event seq, or as it was read here before; else an empty run. saved is what the snapshot has.
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

// carry puts the conversation that run continues in front of its transcript, once its
// first event says which that is. One that was deleted is missing there.
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

// saveSnapshot keeps the run as it is, if enough happened since it was kept last: while the
// run is driven that is as much as a snapshot has in it, so that all of them together cost no
// more than the run itself. Without one the run's next reader folds more events.
func (l *loop) saveSnapshot(ctx context.Context) {
	if l.run.Seq-l.saved >= max(l.saved, snapshotWorth) {
		l.save(ctx, false)
	}
}

// saveLast keeps the run as its driving ends. What it continues is kept with it where
// it came from many runs, so that no reader has to go through more of them than that.
func (l *loop) saveLast(ctx context.Context) {
	if many := l.behind >= conversationWorth; many || l.run.Seq-l.saved >= snapshotWorth {
		l.save(ctx, many)
	}
}

func (l *loop) save(ctx context.Context, carried bool) {
	l.saved = l.run.Seq // the next one is due only later, also where this one cannot be saved
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
