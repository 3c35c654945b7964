package runner

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Connectivity knows whether this machine has a connection; provider.Set is one.
type Connectivity interface {
	// Offline reports whether none of the models can be reached because this machine
	// has no connection. It returns soon after ctx ends.
	Offline(ctx context.Context, models []string) bool
}

const (
	probeLimit = 4 * time.Second // of one look at the network
	probePause = 15 * time.Second
)

// offline looks whether the failed call of an attempt says more about this machine than
// about its provider.
func (a *attempt) offline(ctx context.Context, err error) bool {
	if len(a.reach) == 0 || ctx.Err() != nil {
		return false
	}
	f, ok := recovery.AsFailure(err)
	if !ok {
		f = recovery.Classify(recovery.Evidence{Err: err, Phase: a.phase(), Model: a.model})
	}
	if f.Kind != recovery.KindUnreachable && f.Phase != recovery.PhaseBeforeConnect {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return a.loop.r.connectivity.Offline(ctx, a.reach)
}

// reach lists what has to be out of reach for this machine to be offline; nothing where
// nobody would wait for it.
func (l *loop) reach(model string) []string {
	if l.r.connectivity == nil || !l.run.Policy.AutoRecover {
		return nil
	}
	models := []string{model}
	for _, name := range l.run.Policy.Models {
		if name != model && l.r.models.Has(name) {
			models = append(models, name)
		}
	}
	return models
}

// watchNetwork looks again and again, ever more seldom, until there is a connection.
func (l *loop) watchNetwork(ctx context.Context, key string, w *recovery.WatchNetwork) {
	ctx, j := l.launchJob(ctx, key)
	go func() {
		for pause := time.Second; l.r.connectivity != nil; pause = min(2*pause, probePause) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			look, cancel := context.WithTimeout(ctx, probeLimit)
			offline := l.r.connectivity.Offline(look, w.Models)
			cancel()
			if !offline {
				break
			}
		}
		l.finish(key, j, func(ctx context.Context) error {
			if j.stopping {
				return nil
			}
			return l.write(ctx, w.Due)
		})
	}()
}
