package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Answer is a person's answer to a suggestion, to a live wait, or to a model call that is cut short.
type Answer struct {
	Suggestion string // its id; "" = the one that is open
	Action     string // the id or kind of an action, for example "a1" or "retry"
	Model      string // for switch_model: replaces the action's model
}

// Resume claims a run that nobody drives and drives it. A run that has settled stays as it is, and
// Wait returns its result immediately; only a suggestion whose time is over ends the run. If this
// Runner already drives the run, its handle is returned. Resume fails with timeline.ErrOwned while
// another living process drives the run, with a *NeedsError if this machine lacks what it needs,
// and with timeline.ErrNotFound for an unknown run.
func (r *Runner) Resume(ctx context.Context, id string) (*Run, error) {
	if _, here := r.drives(id); !here {
		if err := r.ableFor(ctx, id); err != nil {
			return nil, err
		}
	}
	run, _, err := r.resume(ctx, id, nil)
	return run, err
}

// resume is Resume, under the lease claimed if that is not nil; on says whether the run goes on,
// and had not settled before.
func (r *Runner) resume(ctx context.Context, id string, claimed *timeline.Lease) (run *Run, on bool, err error) {
	if run, ok := r.drives(id); ok {
		return run, true, nil
	}
	l, err := r.claimBy(ctx, id, claimed)
	if err != nil {
		return nil, false, err
	}
	var bodies []recovery.Body
	asked, err := l.pending(ctx)
	if err != nil {
		l.release()
		return nil, false, fmt.Errorf("resume run %s: %w", id, err)
	}
	switch expiry, over := l.expiry(); {
	case over:
		bodies = append(bodies, expiry)
	case l.run.Settled() && !asked:
		return l.settled(ctx), false, nil
	}
	run, err = l.goOn(ctx, bodies...)
	if err != nil {
		return nil, false, fmt.Errorf("resume run %s: %w", id, err)
	}
	return run, true, nil
}

// Recover answers a run's suggestion and drives the run here. The errors of recovery.Run.Accept say
// why an answer does not count. A run that is being driven (a live wait, or a call that is cut
// short) gets the answer through its inbox, and Recover returns when its owner has written the
// outcome. If that is another process and it does not answer within 3 s, the error is ErrSent. If
// this machine lacks what the run needs, the answer is written and the run left to others, as with
// WithMachine.
func (r *Runner) Recover(ctx context.Context, id string, a Answer) (*Run, error) {
	l, err := r.claim(ctx, id)
	if errors.Is(err, timeline.ErrOwned) {
		return r.recoverOwned(ctx, id, a)
	}
	if err != nil {
		return nil, err
	}
	accepted, err := l.run.Accept(a.Suggestion, a.Action, a.Model, r.now())
	if err != nil {
		l.release()
		return nil, err
	}
	run, err := l.goOn(ctx, l.run.Answering(accepted, r.now())...)
	if err != nil {
		return nil, fmt.Errorf("recover run %s: %w", id, err)
	}
	return run, nil
}

// drives finds a run that this Runner drives.
func (r *Runner) drives(id string) (*Run, bool) {
	v, _ := r.driven.Load(id)
	run, ok := v.(*Run)
	return run, ok
}

// claim folds a run and becomes its owner. A settled run is released again if its loop is not
// launched. Until then nobody else here may claim it: the log would allow that, since they have the
// same owner.
func (r *Runner) claim(ctx context.Context, id string) (*loop, error) { return r.claimBy(ctx, id, nil) }

// claimBy is claim, under the lease claimed if that is not nil.
func (r *Runner) claimBy(ctx context.Context, id string, claimed *timeline.Lease) (_ *loop, err error) {
	unlock := r.claiming.lock(id)
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	if _, ok := r.drives(id); ok {
		return nil, fmt.Errorf("run %s is driven here: %w", id, timeline.ErrOwned)
	}
	var lease timeline.Lease
	err = r.insist(ctx, func() (err error) {
		if claimed != nil {
			lease = *claimed
		} else if _, err = r.log.Read(ctx, id, 0, 1); err == nil {
			lease, err = r.log.Claim(ctx, id, r.owner, r.leaseTTL)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	var run *folded
	var tail timeline.Tail
	err = r.insist(ctx, func() (err error) {
		if run, err = r.fold(ctx, id); err == nil {
			tail, err = r.log.LoadTail(ctx, id)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, r.log.Release(context.WithoutCancel(ctx), lease))
	}
	l := r.newLoop(run.Run, id, lease)
	l.saved, l.behind, l.tail, l.unlock = run.saved, run.behind, tail, unlock
	return l, nil
}
