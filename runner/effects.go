package runner

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// message is what an effect sends to the loop: a function that runs on the loop's goroutine.
type message func(ctx context.Context) error

// job is an effect in the air.
type job struct {
	cancel   context.CancelCauseFunc
	stopping bool
	attempt  *attempt // of a model call
	waits    bool     // its work is done; it waits until health has recorded that
	asks     bool     // it asks a model: for the answer or for a summary
}

func (l *loop) launchJob(ctx context.Context, key string) (context.Context, *job) {
	ctx, cancel := context.WithCancelCause(ctx)
	j := &job{cancel: cancel}
	l.air[key] = j
	return ctx, j
}

// startTimer starts a timer. Every call has several, and most never expire, so a timer has no
// context of its own.
func (l *loop) startTimer(key string, t *recovery.SetTimer) {
	j, body := &job{}, t.Write
	timer := time.AfterFunc(t.At.Sub(l.clock.now()), func() {
		l.finish(key, j, func(ctx context.Context) error {
			if j.stopping || !l.wants(key) {
				return nil
			}
			return l.write(ctx, l.stillSpeaks(body))
		})
	})
	j.cancel = func(error) { timer.Stop() }
	l.air[key] = j
}

// stop ends an effect that is no longer wanted. Timers, questions to plugins and jobs that only
// wait for health are over immediately. A model call or a tool stays in the air until it says that
// it has ended.
func (l *loop) stop(key string, j *job) {
	if j.stopping {
		return
	}
	j.stopping = true
	j.cancel(errStopped)
	if isQuick(key) || j.waits {
		delete(l.air, key)
	}
}

// finish posts the end of an effect to the loop.
func (l *loop) finish(key string, j *job, end message) {
	l.post(func(ctx context.Context) error {
		l.takeOut(key, j)
		return end(ctx)
	})
}

// takeOut removes an effect from those in the air.
func (l *loop) takeOut(key string, j *job) {
	if l.air[key] == j {
		delete(l.air, key)
	}
	j.cancel(errStopped)
}

// post puts a message into the mailbox, unless the loop is over.
func (l *loop) post(m message) {
	select {
	case l.mailbox <- m:
	case <-l.work.Done():
	}
}

// stopAll stops everything in the air when the loop is over, and waits a moment for that, so that
// the result of a tool that has just ended is not lost.
func (l *loop) stopAll(moment time.Duration, over func() bool) {
	l.stoppingAll = true
	defer func() { l.stoppingAll = false }()
	for key, j := range l.air {
		l.stop(key, j)
	}
	if over() {
		return
	}
	grace := time.NewTimer(moment)
	defer grace.Stop()
	for !over() {
		select {
		case m := <-l.mailbox:
			if err := m(l.work); err != nil {
				l.r.logger.Warn("a late result was not written", "run", l.id, "err", err)
			}
		case <-grace.C:
			return
		}
	}
}
