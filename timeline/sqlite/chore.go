package sqlite

import (
	"context"

	"github.com/mulligan-run/mulligan/timeline"
)

// chore is work that the committer does between two transactions.
type chore struct {
	ctx  context.Context
	do   func(context.Context) error
	done chan error
}

// between makes the committer run do between two transactions, and waits until it has returned.
func (s *store) between(ctx context.Context, do func(context.Context) error) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.readOnly != nil {
		return s.readOnly
	}
	c := &chore{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case s.chores <- c:
		return <-c.done
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return timeline.ErrClosed
	}
}
