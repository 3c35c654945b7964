package runner

import (
	"context"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Connectivity knows whether this machine has a connection; provider.Set is one.
type Connectivity interface {
	// Offline reports whether none of the models can be reached because this machine has no
	// connection. It returns soon after ctx ends.
	Offline(ctx context.Context, models []string) bool
}

const (
	probeLimit = 4 * time.Second // for one check of the network
	probePause = 15 * time.Second
)

// offline reports whether an attempt's failure says more about this machine than about its
// provider.
func (a *attempt) offline(ctx context.Context, err error) bool {
	if err == nil || len(a.reach) == 0 || ctx.Err() != nil {
		return false
	}
	f, ok := failure.AsFailure(err)
	if !ok {
		f = a.loop.r.classify(failure.Evidence{Err: err, Phase: a.phase(), Model: a.model, Provider: entryOf(a.model)})
	}
	if f.Kind != failure.KindUnreachable && f.Phase != failure.PhaseBeforeConnect {
		return false
	}
	return a.loop.offline(ctx, a.reach)
}

// reach lists the models that must be unreachable for this machine to count as offline; nil if the
// run would not wait for the network.
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

// offline reports whether this machine has no connection to the models, as far as can be found out
// here.
func (l *loop) offline(ctx context.Context, models []string) bool {
	if l.r.connectivity == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return l.r.connectivity.Offline(ctx, models)
}

// watchNetwork checks again and again, at growing intervals, until there is a connection.
func (l *loop) watchNetwork(ctx context.Context, key string, w *recovery.WatchNetwork) {
	ctx, j := l.launchJob(ctx, key)
	go func() {
		for pause := time.Second; ; pause = min(2*pause, probePause) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			if !l.offline(ctx, w.Models) {
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
