package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	hearTime  = 3 * time.Second        // for the owner of a run to answer a command
	hearPause = 100 * time.Millisecond // before the sender looks again whether the run still has an owner
)

// ErrSent says that another process drives the run and was told. It acts on that or, if it dies
// first, the process that keeps the log's runs does.
var ErrSent = errors.New("another process drives the run, and was told")

// hearing says what has happened to a command.
type hearing int

const (
	unheard hearing = iota // not answered yet
	heard                  // an event answers it
	refused                // it came too late
)

// recoverOwned answers the suggestion, the live wait or the call of a run that has an owner,
// through the run's inbox.
func (r *Runner) recoverOwned(ctx context.Context, id string, a Answer) (*Run, error) {
	state, err := r.Inspect(ctx, id)
	if err != nil {
		return nil, err
	}
	accepted, err := state.Accept(a.Suggestion, a.Action, a.Model, r.now())
	if err != nil {
		return nil, err
	}
	became, err := r.tell(ctx, state, timeline.Command{ID: "accept/" + newID(), Body: accepted})
	switch {
	case err != nil:
		return nil, fmt.Errorf("recover run %s: %w", id, err)
	case became == refused:
		return nil, r.tooLate(ctx, id, a)
	}
	run, err := r.Resume(ctx, id)
	if errors.Is(err, timeline.ErrOwned) {
		err = fmt.Errorf("recover run %s: %w", id, ErrSent)
	}
	return run, err
}

// tooLate says why an answer came too late.
func (r *Runner) tooLate(ctx context.Context, id string, a Answer) error {
	state, err := r.Inspect(ctx, id)
	if err != nil {
		return err
	}
	if _, err = state.Accept(a.Suggestion, a.Action, a.Model, r.now()); err == nil {
		err = fmt.Errorf("run %s: %w", id, recovery.ErrExpired)
	}
	return err
}

// cancelOwned makes the owner of a run end it.
func (r *Runner) cancelOwned(ctx context.Context, id string) error {
	state, err := r.Inspect(ctx, id)
	if err != nil || state.End != nil {
		return err
	}
	if _, err := r.tell(ctx, state, timeline.Command{ID: "cancel", Body: recovery.CancelRequested{}}); err != nil {
		return fmt.Errorf("cancel run %s: %w", id, err)
	}
	if run, ok := r.drives(id); ok {
		_, err := ended(run)
		return err
	}
	return nil
}

// tell puts a command into the inbox of a run and waits until its owner has answered it. If the
// owner has released the run by then, it is driven here from then on. A command that is not
// answered in time stays in the inbox, for this owner or the next one; but whoever leaves the run here
// is waited for, since it does not look again.
func (r *Runner) tell(ctx context.Context, state *recovery.Run, c timeline.Command) (hearing, error) {
	n, err := r.log.Send(ctx, state.ID, c)
	if err != nil {
		return unheard, err
	}
	cursor := state.Seq
	for began := time.Now(); ; {
		became, err := r.hear(ctx, state.ID, &cursor, n)
		if became != unheard || err != nil || ctx.Err() != nil {
			return became, err
		}
		run, here := r.drives(state.ID)
		r.takeOver(ctx, state.ID)
		if leaves := here && run.leaves.Load(); !leaves && time.Since(began) > hearTime {
			return unheard, nil
		}
	}
}

// hear follows a run for a moment, to see what happens to the command at position n.
func (r *Runner) hear(ctx context.Context, id string, cursor *uint64, n uint64) (hearing, error) {
	ctx, stop := context.WithTimeout(ctx, hearPause)
	defer stop()
	for item, err := range r.log.Follow(ctx, id, *cursor) {
		if err != nil {
			return unheard, err
		}
		if item.Event == nil {
			continue
		}
		*cursor = item.Event.Seq
		if became := answerTo(n, item.Event); became != unheard {
			return became, nil
		}
	}
	return unheard, nil
}

// answerTo says how an event answers the command at position n.
func answerTo(n uint64, e *recovery.Event) hearing {
	if e.Inbox > n {
		return refused
	}
	switch b := e.Body.(type) {
	case recovery.Accepted, recovery.CancelRequested, recovery.ToolReturned:
		if e.Inbox == n {
			return heard
		}
	case recovery.Noted:
		if e.Inbox == n && b.Topic == recovery.TopicTooLate {
			return refused
		}
	case recovery.Ended:
		return refused
	}
	return unheard
}

// takeOver drives a run that a command was sent to, if its owner has released it.
func (r *Runner) takeOver(ctx context.Context, id string) {
	l, err := r.claim(ctx, id)
	if err != nil {
		return // its owner acts
	}
	if l.run.End != nil {
		l.release()
		return
	}
	if _, err := l.goOn(ctx); err != nil {
		r.logger.Warn("a run with a command could not be continued", "run", id, "err", err)
	}
}

// ended waits until a run is no longer driven and reports whether it has ended. The error says that
// it could not be driven any further.
func ended(run *Run) (bool, error) {
	result, err := run.Wait(context.Background())
	switch {
	case errors.Is(err, ErrUnsaved), !settled(err):
		return false, err
	case result.State == nil:
		return false, nil
	}
	return result.State.End != nil, nil
}

// pending reports whether there is a command in the inbox that no event has answered.
func (l *loop) pending(ctx context.Context) (there bool, err error) {
	if l.run.End != nil {
		return false, nil
	}
	err = l.r.insist(ctx, func() error {
		commands, err := l.r.log.Inbox(ctx, l.id, l.run.Inbox, 1)
		there = len(commands) > 0
		return err
	})
	return there, err
}
