package runner

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// readInbox handles the commands that are in the inbox now, and reports whether one changed the
// run.
func (l *loop) readInbox(ctx context.Context) (more bool, err error) {
	if l.run.End != nil || l.run.Seq <= maxOpening && l.lease.Epoch == 1 { // nobody can have sent a command to a run that has just begun
		return false, nil
	}
	before := l.run.Seq
	commands, err := l.inbox(ctx)
	for _, c := range commands {
		if err == nil {
			err = l.command(ctx, c)
		}
	}
	return l.run.Seq != before, err
}

// inbox gives the commands that are not answered yet. If the run has settled it waits only briefly
// for the store, since people wait for the outcome: a command that cannot be read now makes the run
// due.
func (l *loop) inbox(ctx context.Context) (commands []timeline.Command, err error) {
	read := func(ctx context.Context) error {
		commands, err = l.r.log.Inbox(ctx, l.id, l.run.Inbox, 0)
		return err
	}
	if !l.run.Settled() && !l.parked() {
		_, err := l.persist(ctx, read)
		return commands, err
	}
	if err := l.r.insist(ctx, func() error { return read(ctx) }); err != nil && timeline.MayPass(err) {
		l.r.logger.Warn("the inbox of a run that has settled cannot be read", "run", l.id, "err", err)
		return nil, nil
	}
	return commands, err
}

// fits says why a command comes too late; nil if it does not.
func (l *loop) fits(c timeline.Command) error {
	if b, ok := c.Body.(recovery.ToolReturned); ok {
		_, err := l.run.Take(b, l.clock.now())
		return err
	}
	a, ok := c.Body.(recovery.Accepted)
	if !ok {
		return nil
	}
	_, err := l.run.Accept(a.Suggestion, a.Action, a.Model, l.clock.now())
	return err
}

// followInbox follows the inbox from the last command that was answered, until stop is called.
func (l *loop) followInbox(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go l.hearCommands(ctx, l.run.Inbox)
	return cancel
}

// hearCommands turns each command into an event, once: the event holds the command's position, so
// that the command is not handled again after a crash. If the inbox cannot be read it is tried
// again later.
func (l *loop) hearCommands(ctx context.Context, after uint64) {
	for ctx.Err() == nil {
		for c, err := range l.r.log.Commands(ctx, l.id, after) {
			if err != nil && !timeline.MayPass(err) {
				return
			} else if err != nil {
				l.r.logger.Warn("the inbox cannot be read", "run", l.id, "err", err)
				break
			}
			after = c.N
			l.post(func(ctx context.Context) error { return l.command(ctx, c) })
		}
		select {
		case <-time.After(inboxPause):
		case <-ctx.Done():
		}
	}
}

func (l *loop) command(ctx context.Context, c timeline.Command) error {
	if c.N <= l.run.Inbox || l.run.End != nil || l.stoppingAll {
		return nil
	}
	if err := l.fits(c); err != nil {
		l.r.logger.Info("an answer came too late", "run", l.id, "err", err)
		return l.writeAnswering(ctx, c.N, recovery.Noted{Topic: recovery.TopicTooLate})
	}
	bodies := []recovery.Body{c.Body}
	switch b := c.Body.(type) {
	case recovery.Accepted:
		bodies = l.run.Answering(b, l.clock.now())
	case recovery.ToolReturned:
		if taken, err := l.run.Take(b, l.clock.now()); err == nil {
			bodies[0] = taken
		}
	}
	return l.writeAnswering(ctx, c.N, bodies...)
}
