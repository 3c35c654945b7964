package runner

import (
	"context"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// shadowGrace is how long a run that fails, stops for a person or is parked waits for shadows, so
// that a healthy one can still vote on its last failure.
const shadowGrace = 250 * time.Millisecond

// shadows are the hooks on trial that were asked and have not voted. A decision never waits for
// them, only the end of the driving does.
type shadows struct {
	about recovery.Occasion // the last one
	out   int               // votes still to come
	round int               // votes of an earlier round are dropped
	until time.Time         // when to stop waiting; zero = not waiting yet
}

// askShadows asks the hooks on trial about the occasion when the plugins are asked or, if there are
// none, when it is decided. Their votes are written as they come. They are not asked about the
// buttons of another plugin.
func (l *loop) askShadows(effects []recovery.Effect) {
	about, round := l.run.Occasion(), l.shadows.round
	if about == "" || about == l.shadows.about || l.run.Open != nil && l.run.Open.Presses > 0 || !slices.ContainsFunc(effects, asksOrDecides) {
		return
	}
	l.shadows.about = about
	asked := slices.DeleteFunc(slices.Clone(l.r.hooks()), func(h hooks.Named) bool { return !h.Shadow || !h.Takes(recovery.HookRunError) })
	if len(asked) == 0 {
		return
	}
	l.shadows.out += len(asked)
	l.shadows.until = time.Time{}
	go hooks.Dispatch(l.work, asked, l.r.aboutModels(hooks.NewOccasion(l.run), l.clock.now()), l.r.deadlines, func(v recovery.Vote) {
		l.post(func(ctx context.Context) error { return l.shadowVoted(ctx, round, about, v) })
	})
}

func (l *loop) shadowVoted(ctx context.Context, round int, about recovery.Occasion, v recovery.Vote) error {
	if round != l.shadows.round || l.run.End != nil {
		return nil
	}
	l.shadows.out--
	return l.write(ctx, recovery.Voted{Occasion: about, Vote: v})
}

// await reports whether to wait for a vote, and until when: shadowGrace after the first call.
func (s *shadows) await() (until time.Time, awaited bool) {
	if s.out == 0 {
		return time.Time{}, false
	}
	if s.until.IsZero() {
		s.until = time.Now().Add(shadowGrace)
	}
	if time.Until(s.until) <= 0 {
		*s = shadows{about: s.about, round: s.round + 1}
		return time.Time{}, false
	}
	return s.until, true
}

func asksOrDecides(e recovery.Effect) bool {
	_, decides := e.Record.(recovery.Decided)
	return e.Ask != nil || decides
}

// isFailure reports whether b ends a run with a failure.
func isFailure(b recovery.Body) bool {
	end, ok := b.(recovery.Ended)
	return ok && end.Status == recovery.StatusFailed
}
