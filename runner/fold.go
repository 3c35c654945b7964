package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// snapshotWorth is how many events are worth a snapshot.
const snapshotWorth = 256

// Inspect gives a run as it is in the timeline, with the conversation that it continues.
func (r *Runner) Inspect(ctx context.Context, id string) (*recovery.Run, error) {
	run, _, err := r.fold(ctx, id, 0, nil)
	return run, err
}

// fold gives a run as it is after event seq, 0 for its last one, and how much of that a
// snapshot knew. What is behind are runs that continue this one, over others or not.
func (r *Runner) fold(ctx context.Context, id string, seq uint64, behind map[string]bool) (run *recovery.Run, known uint64, err error) {
	run, err = r.restore(ctx, id, seq)
	if err != nil {
		return nil, 0, fmt.Errorf("run %s: %w", id, err)
	}
	known = run.Seq
	var events []recovery.Event
	if seq == 0 || seq > known {
		limit := 0
		if seq > 0 {
			limit = int(seq - known) //nolint:gosec // a number of events
		}
		if events, err = r.log.Read(ctx, id, known, limit); err != nil {
			return nil, 0, fmt.Errorf("run %s: %w", id, err)
		}
	}
	if err := r.carry(ctx, run, behind); err != nil {
		return nil, 0, err
	}
	for _, e := range events {
		if err := run.Apply(e); err != nil {
			return nil, 0, err
		}
		if err := r.carry(ctx, run, behind); err != nil {
			return nil, 0, err
		}
	}
	return run, known, nil
}

// restore gives a run as its snapshot has it, if there is one of this version and not after
// event seq; else an empty run.
func (r *Runner) restore(ctx context.Context, id string, seq uint64) (*recovery.Run, error) {
	at, data, err := r.log.LoadSnapshot(ctx, id)
	if err != nil {
		return nil, err
	}
	if at > 0 && (seq == 0 || at <= seq) {
		if run, ok := recovery.Restore(data); ok && run.ID == id && run.Seq == at {
			return run, nil
		}
	}
	return &recovery.Run{}, nil
}

// carry puts the conversation that run continues in front of its transcript, once its
// first event says which that is. One that was deleted is missing there.
func (r *Runner) carry(ctx context.Context, run *recovery.Run, behind map[string]bool) error {
	if run.Seq == 0 || run.Whole() {
		return nil
	}
	if behind == nil {
		behind = map[string]bool{}
	}
	behind[run.ID] = true
	head := *run.Continues
	if behind[head.Run] {
		return fmt.Errorf("run %s continues run %s, which continues it: %w", run.ID, head.Run, timeline.ErrDamaged)
	}
	before, err := r.conversation(ctx, head, behind)
	if err != nil {
		return err
	}
	run.Carry(before)
	return nil
}

func (r *Runner) conversation(ctx context.Context, head recovery.Head, behind map[string]bool) ([]llm.Message, error) {
	run, _, err := r.fold(ctx, head.Run, head.Seq, behind)
	if errors.Is(err, timeline.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return run.Conversation(), nil
}

// saveSnapshot keeps the run as it is, if so many events happened since it was kept last:
// as many as a snapshot has in it, while the run is driven, so that all of them together
// cost no more than the run itself. Without one the run's next reader folds more events.
func (l *loop) saveSnapshot(ctx context.Context, worth uint64) {
	if l.run.Seq-l.saved < max(worth, snapshotWorth) {
		return
	}
	l.saved = l.run.Seq // the next one is due only later, also where this one cannot be saved
	ctx, cancel := context.WithTimeout(ctx, storeSlow)
	defer cancel()
	data, err := l.run.Snapshot()
	if err == nil {
		err = l.r.log.SaveSnapshot(ctx, l.lease, l.run.Seq, data)
	}
	if err != nil {
		l.r.logger.Warn("no snapshot was saved", "run", l.id, "after", l.run.Seq, "err", err)
	}
}
