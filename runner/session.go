package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// ErrSessionBusy is the error of Start in a session whose last run is still running or waiting. An
// open suggestion is no obstacle, since the next message replaces it.
var ErrSessionBusy = errors.New("the session's last run goes on")

// settleTries pauses are how long the owner of a run with an open suggestion may take to release
// it: a loop that has just settled is still ending its effects.
const (
	settleTries = 60
	settlePause = 50 * time.Millisecond
)

// startTurn begins the next run of req's session. It waits for short-lived obstacles: an owner
// whose run has just settled, or another process that begins and ends a run at the same time.
func (r *Runner) startTurn(ctx context.Context, req Request) (*Run, error) {
	if err := timeline.CheckSessionID(req.Session); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		run, err := r.turn(ctx, req)
		_, stored := errors.AsType[*timeline.StoreError](err)
		passing := errors.Is(err, timeline.ErrOwned) || errors.Is(err, timeline.ErrSession) || stored && timeline.MayPass(err)
		if !passing || try == settleTries {
			return run, err
		}
		time.Sleep(settlePause)
	}
}

// turn begins a run at the head of its session.
func (r *Runner) turn(ctx context.Context, req Request) (*Run, error) {
	session, err := r.log.Session(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	req, cooling := r.inSession(req, session)
	tools := r.toolsOf(req)
	started, err := r.started(ctx, req, tools)
	if err != nil {
		return nil, err
	}
	started.Cooling = cooling
	before, err := r.head(ctx, req.Session)
	if err != nil {
		return nil, err
	}
	if before == nil {
		if session.Model == "" && req.Model != "" {
			session.Model = req.Model
			if err := r.log.SetSession(ctx, session); err != nil {
				return nil, err
			}
		}
		return r.begin(ctx, req, started, tools, nil)
	}
	started.Continues = &recovery.Head{Run: before.ID, Seq: before.Seq}
	return r.begin(ctx, req, started, tools, before)
}

// inSession fills the request's gaps with the session's defaults. A run starts with the session's
// model even if the last run was switched to another one. If that model is cooling down, and
// another of the run's models is not, the run itself decides what to do.
func (r *Runner) inSession(req Request, s timeline.Session) (Request, *recovery.Cooldown) {
	timeouts := maps.Clone(s.Timeouts)
	if timeouts == nil {
		timeouts = recovery.Settings{}
	}
	maps.Copy(timeouts, req.Timeouts)
	req.Timeouts = timeouts
	if req.AutoRecover == nil && req.Policy == nil {
		req.AutoRecover = s.AutoRecover
	}
	if req.Model != "" {
		return req, nil // the request names a model
	}
	req.Model = cmp.Or(s.Model, r.model)
	policy := &r.policy
	if req.Policy != nil {
		policy = req.Policy
	}
	return req, r.replaceable(req.Model, policy.Models)
}

// replaceable gives the cooldown of a model that another one may replace; nil if it has none, or if
// all others are cooling down as well.
func (r *Runner) replaceable(model string, others []string) *recovery.Cooldown {
	now := r.now()
	cooldown, cooling := r.health.Cooling(model, now)
	well := func(name string) bool {
		_, cooling := r.health.Cooling(name, now)
		return !cooling && r.models.Has(name)
	}
	if cooling && slices.ContainsFunc(others, well) {
		return &cooldown
	}
	return nil
}

// head is the run that the next one of a session continues, nil for the first one. Its open
// suggestion is superseded.
func (r *Runner) head(ctx context.Context, session string) (*folded, error) {
	list, err := r.log.List(ctx, timeline.Query{Session: session, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	last := list[0]
	if !last.Ended {
		if !last.SuggestionOpen {
			return nil, fmt.Errorf("%w: session %s, run %s (%s): wait for it, resume it or cancel it", ErrSessionBusy, session, last.Run, last.Status)
		}
		if err := r.supersede(ctx, last.Run); err != nil {
			return nil, err
		}
	}
	return r.fold(ctx, last.Run)
}

// supersede ends a run with an open suggestion. If the suggestion has been answered by then, the
// run goes on, and is looked at again.
func (r *Runner) supersede(ctx context.Context, id string) error {
	l, err := r.claim(ctx, id)
	if err != nil {
		return err
	}
	defer l.leave()
	end, ok := l.run.Supersede()
	if !ok {
		return fmt.Errorf("run %s was answered: %w", id, timeline.ErrSession)
	}
	return l.write(ctx, l.claimed(l.lease), end)
}
