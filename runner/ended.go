package runner

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// attemptEnded writes how an attempt ended. It ignores an attempt that the run no longer waits for.
func (l *loop) attemptEnded(ctx context.Context, key string, j *job, err error, offline bool) error {
	a := j.attempt
	switch {
	case !l.inAir(a), errors.Is(err, errStopped):
		l.takeOut(key, j)
	case err != nil:
		if l.call != nil {
			l.call.Caller.Failed(a.id, err)
		}
		l.attemptFailed(key, j, l.failed(a, err, offline))
	default:
		l.takeOut(key, j)
		return l.attemptAnswered(ctx, a)
	}
	return nil
}

func (l *loop) attemptAnswered(ctx context.Context, a *attempt) error {
	l.misfits++
	if a.misfit == "" {
		l.misfits = 0
	}
	return l.write(ctx, recovery.Answered{
		Attempt: a.id, Message: a.answer.Message(a.model), Usage: a.answer.Usage, Stop: a.answer.Stop,
		RequestID: a.answer.RequestID, FirstEvent: failure.InMillis(a.firstEvent), By: a.by,
		CacheLost: l.cacheLost(a.model, a.answer.Usage),
	})
}

// attemptFailed records a failure with health before it is written, since health decides which
// other models may be asked. Until then the attempt is in the air.
func (l *loop) attemptFailed(key string, j *job, failed recovery.Failed) {
	a, now := j.attempt, l.clock.real()
	j.waits = true
	l.errands.add(func() {
		if failed.Failure.Origin == failure.OriginModel && !a.ofCallersKey(failed.Failure.Kind) {
			l.r.recent.add(failed.Failure.Model, failed.Failure.Kind, now)
			l.r.health.Failed(failed.Failure.Model, failed.Failure, now)
		}
		l.finish(key, j, func(ctx context.Context) error {
			if !l.inAir(a) {
				return nil
			}
			a.close()
			return l.write(ctx, l.run.Saying(failed, a.own()))
		})
	})
}

// ofCallersKey reports whether a failure of that kind says something only about the key that the
// caller itself presented, and so nothing about the model for anybody else.
func (a *attempt) ofCallersKey(kind failure.Kind) bool {
	if own := a.request.Credential; own == nil || own.Provider != entryOf(a.model) {
		return false
	}
	switch kind {
	case failure.KindAuth, failure.KindBilling, failure.KindQuota, failure.KindRateLimit:
		return true
	}
	return false
}

// failed is the event for an attempt's error.
func (l *loop) failed(a *attempt, err error, offline bool) recovery.Failed {
	f, ok := failure.AsFailure(err)
	if !ok {
		f = l.r.classify(failure.Evidence{Err: err, Phase: a.phase(), Model: a.model, Provider: entryOf(a.model), At: l.r.now()})
	}
	described := *f
	described.Model = cmp.Or(described.Model, a.model)
	described.Provider = cmp.Or(described.Provider, entryOf(a.model))
	described.RequestID = cmp.Or(described.RequestID, a.answer.RequestID)
	described.Code = cmp.Or(described.Code, described.Kind.Code())
	if described.Title == "" { // an embedder's model may set the kind and leave the words to us
		described.Describe(failure.Words{})
	}
	switch described.Kind { // the code that noticed it may not know how much was received
	case failure.KindStreamInterrupted, failure.KindMalformedResponse:
		described.Describe(a.heard())
	}
	described.Elapsed = max(1, failure.InMillis(time.Since(a.began)))
	described.LastStep, described.LastStepElapsed = l.run.LastAction(l.clock.now())
	failed := recovery.Failed{Attempt: a.id, Failure: described, Usage: a.answer.Usage, Offline: offline, Continuable: a.continuable(described), Headers: a.toldHeaders()}
	l.keepUnkept(a)
	if refused, ok := errors.AsType[*refusal](err); ok && l.call == nil {
		failed.Tell = refused.tell()
	}
	return failed
}
