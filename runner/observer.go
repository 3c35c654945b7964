package runner

import "github.com/mulligan-run/mulligan/recovery"

// Observer is told what happens to the runs that a Runner drives, in order for each run. The
// goroutine that drives the run calls it and waits, so it must return quickly and do no I/O. It may
// be called for several runs at the same time. The run that it is given changes afterwards, and may
// be read only during the call.
type Observer interface {
	// Happened is called once for each event that this process wrote. The event is durable, and
	// run includes it.
	Happened(run *recovery.Run, e recovery.Event)
	// Left is called when the run is no longer driven here: it has settled, is parked, was
	// released, or could not be driven any further.
	Left(run *recovery.Run)
}

// WithObserver tells o what happens to all runs, for telemetry. Several observers are told in the
// order of their options. An observer is told of nothing that is not durable, such as live text.
func WithObserver(o Observer) Option {
	return func(r *Runner) {
		if o != nil {
			r.observers = append(r.observers, o)
		}
	}
}

func (l *loop) observe(e recovery.Event) {
	for _, o := range l.r.observers {
		o.Happened(l.run, e)
	}
}

func (l *loop) observeLeft() {
	for _, o := range l.r.observers {
		o.Left(l.run)
	}
}
