package runner

import (
	"context"
	"time"
)

// awaitTurn has a model call begin later, and reports that, where its provider has too
// much to do: nothing is written until then, so that the clocks of the attempt do not run.
func (l *loop) awaitTurn(ctx context.Context, key, model string) bool {
	if l.turn == key {
		l.turn = ""
		return false
	}
	wait := l.wait
	if l.wait = 0; wait == 0 {
		wait = l.r.health.Turn(model)
	}
	if wait <= 0 {
		return false
	}
	ctx, j := l.launchJob(ctx, key)
	timer := time.AfterFunc(wait, func() {
		l.finish(key, j, func(context.Context) error {
			l.turn = key
			return nil
		})
	})
	context.AfterFunc(ctx, func() {
		if timer.Stop() { // nobody wants the call any more
			l.finish(key, j, func(context.Context) error { return nil })
		}
	})
	return true
}
