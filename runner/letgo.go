package runner

import (
	"context"
	"errors"

	"github.com/mulligan-run/mulligan/timeline"
)

// letGo ends the attempt in the air with the text so far, and leaves the rest to the next owner. A
// store that does not answer holds up the end of this process no longer than storeSlow: the attempt
// then counts as interrupted, as if the process had been killed.
func (l *loop) letGo(ctx context.Context) error {
	l.leaving = true
	for key, j := range l.air {
		a := j.attempt
		if a == nil || !l.inAir(a) {
			continue
		}
		text := l.breakOff(key, j)
		if err := l.takePosted(ctx); err != nil {
			return errors.Join(ErrLetGo, err)
		}
		if !l.inAir(a) {
			continue
		}
		l.tail = timeline.Tail{Attempt: a.id, Offset: a.base(), Text: text}
		over := l.run.HandOver(l.clock.now())
		over.Continuable = a.continuable(over.Failure)
		l.keepUnkept(a)
		bounded, cancel := context.WithTimeout(ctx, storeSlow)
		err := l.write(bounded, over)
		cancel()
		if err != nil {
			return errors.Join(ErrLetGo, err)
		}
	}
	return ErrLetGo
}

// takePosted handles what effects have posted so far, such as an answer that was complete before
// its attempt was stopped. Commands stay in the inbox.
func (l *loop) takePosted(ctx context.Context) error {
	l.stoppingAll = true
	defer func() { l.stoppingAll = false }()
	for {
		if taken, err := l.takeWaiting(ctx); err != nil || !taken {
			return err
		}
	}
}
