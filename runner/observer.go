package runner

import "github.com/mulligan-run/mulligan/recovery"

// Observer is told what happens to the runs that a Runner drives, run by run in order, by
// the goroutine that drives the run. That waits meanwhile, so an Observer returns at once
// and does no I/O; it is called for several runs at a time. The run it is given changes
// afterwards: it is for reading while the call lasts.
type Observer interface {
	// Happened is called once for each event that this process wrote: it is durable, and
	// run is what the events up to it amount to.
	Happened(run *recovery.Run, e recovery.Event)
	// Left is called when the run is not driven here any more: it has settled, is parked,
	// was let go of, or could not be driven on.
	Left(run *recovery.Run)
}

// WithObserver tells o what happens to all runs, for telemetry. It hears of nothing that
// is not durable, such as live text.
func WithObserver(o Observer) Option {
	return func(r *Runner) { r.observer = o }
}

func (l *loop) observe(e recovery.Event) {
	if o := l.r.observer; o != nil {
		o.Happened(l.run, e)
	}
}

func (l *loop) observeLeft() {
	if o := l.r.observer; o != nil {
		o.Left(l.run)
	}
}
