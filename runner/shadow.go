package runner

import (
	"context"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// shadowGrace is how long a run that fails, stops for a person or is parked waits for
// shadows, so that a healthy one's vote on its last failure is not lost.
const shadowGrace = 250 * time.Millisecond

// shadows are hooks on trial that were asked and have not voted. Nothing but the end
// of the driving waits for them: a decision never does.
type shadows struct {
	failure  uint64           // the last one that they were asked about
	out      int              // votes that are still to come
	round    int              // votes of an earlier one are not waited for, and dropped
	patience <-chan time.Time // when they are given up; nil = not awaited yet
}

// askShadows puts the open failure to the shadows when the plugins are asked or, where
// there are none, when it is decided. Their votes are written when they come.
func (l *loop) askShadows(effects []recovery.Effect) {
	if l.run.Open == nil || l.run.Open.Seq == l.shadows.failure || !slices.ContainsFunc(effects, asksOrDecides) {
		return
	}
	failure, round := l.run.Open.Seq, l.shadows.round
	l.shadows.failure = failure
	asked := slices.DeleteFunc(slices.Clone(l.r.hooks()), func(h hooks.Named) bool { return !h.Shadow })
	if len(asked) == 0 {
		return
	}
	l.shadows.out += len(asked)
	l.shadows.patience = nil
	event := hooks.NewRunError(l.run)
	go hooks.Dispatch(l.work, asked, event, l.r.deadlines, func(v recovery.Vote) {
		l.post(func(ctx context.Context) error { return l.shadowVoted(ctx, round, failure, v) })
	})
}

func (l *loop) shadowVoted(ctx context.Context, round int, failure uint64, v recovery.Vote) error {
	if round != l.shadows.round || l.run.End != nil {
		return nil
	}
	l.shadows.out--
	return l.write(ctx, recovery.Voted{Failure: failure, Vote: v})
}

// awaited reports whether a vote is worth waiting for; from the first time on it is
// for shadowGrace.
func (s *shadows) awaited() bool {
	if s.out == 0 {
		return false
	}
	if s.patience == nil {
		s.patience = time.After(shadowGrace)
	}
	return true
}

func (s *shadows) giveUp() { *s = shadows{failure: s.failure, round: s.round + 1} }

func asksOrDecides(e recovery.Effect) bool {
	_, decides := e.Record.(recovery.Decided)
	return e.Ask != nil || decides
}

// isFailure reports whether b ends a run badly.
func isFailure(b recovery.Body) bool {
	end, ok := b.(recovery.Ended)
	return ok && end.Status == recovery.StatusFailed
}
