package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Run is a handle of a run that this process drives.
type Run struct {
	id     string
	runner *Runner
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	first  func() // makes the first call, for Runner.Do; nil = a goroutine of the run's makes it
	// leaves: its loop has looked into the run's inbox for the last time.
	leaves atomic.Bool
	result Result
	err    error

	mu      sync.Mutex
	settled bool
	after   []func(Result, error) // to be called when it settles
}

// Result is the outcome of a run.
type Result struct {
	Run    string
	Status recovery.Status
	Text   string // the answer, or the partial text of a failed run
	Model  string // the model that wrote it, or that was asked last
	// Truncated says that the answer was cut at the output limit, so that its end is missing.
	Truncated bool
	State     *recovery.Run // the whole run, for reading
}

// ErrTruncated says that a run's answer was cut at the output limit, so that its text is
// incomplete.
var ErrTruncated = errors.New("the answer was cut at the output limit")

// ErrCancelled is the error of a run that was cancelled.
var ErrCancelled = fmt.Errorf("the run was cancelled: %w", context.Canceled)

// ErrParked is the error of a run that waits for a time too far away to wait for here, or for a
// tool that its caller carries out. Resume continues it, and so does ReturnResults.
var ErrParked = errors.New("the run is parked until its time")

// ErrLetGo is the cause of a run's context when its process releases the run: nothing more is
// begun, the text so far is durable, and the process that resumes the run continues it. It is then
// also the error of the run's handle.
var ErrLetGo = errors.New("this process let go of the run; it can be resumed")

// Error is the error of a failed run. It unwraps to the Failure.
type Error struct {
	Run        string
	Failure    *failure.Failure
	Suggestion *recovery.Suggestion // what a person may answer; nil = nothing
}

// Error is the failure's one-line form.
func (e *Error) Error() string { return e.Failure.Error() }

// Unwrap gives the Failure.
func (e *Error) Unwrap() error { return e.Failure }

// ID is the run's id.
func (run *Run) ID() string { return run.id }

// Events yields what happens to the run from its beginning, including live text, until it settles:
// the last item is the event that settled it. It may be called any number of times.
func (run *Run) Events() iter.Seq2[Item, error] { return run.EventsAfter(0) }

// EventsAfter is Events from the event after the one numbered seq on; 0 means from the beginning.
// If the timeline cannot be read it ends with the error.
func (run *Run) EventsAfter(seq uint64) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		ctx, cancel := context.WithCancel(context.WithoutCancel(run.ctx))
		defer cancel()
		var last atomic.Uint64
		last.Store(seq)
		stopped := context.AfterFunc(doneContext{ctx, run.done}, func() {
			if run.settledBy(last.Load()) {
				cancel() // the last event that is waited for has come
			}
		})
		defer stopped()
		for item, err := range run.runner.log.Follow(ctx, run.id, seq) {
			if ctx.Err() != nil {
				return
			}
			if !yield(item, err) || err != nil {
				return
			}
			if item.Event == nil {
				continue
			}
			last.Store(item.Event.Seq)
			if run.settledBy(item.Event.Seq) {
				return
			}
		}
	}
}

// settledBy reports whether the run had settled by the event numbered seq.
func (run *Run) settledBy(seq uint64) bool {
	select {
	case <-run.done:
		return run.result.State == nil || seq >= run.result.State.Seq
	default:
		return false
	}
}

// Done is closed once the run has settled: Wait then returns immediately.
func (run *Run) Done() <-chan struct{} { return run.done }

// Wait waits until the run settles, or ctx ends. The error is nil for a completed run, *Error for a
// failed one, ErrCancelled or ErrParked. Any other error, except the cause of ctx, means that the
// run could not be driven any further and can be resumed. If ctx ends, the run goes on and the
// Result holds only its id.
func (run *Run) Wait(ctx context.Context) (Result, error) {
	select {
	case <-run.done:
		return run.result, run.err
	default:
	}
	select {
	case <-run.done:
		return run.result, run.err
	case <-ctx.Done():
		return Result{Run: run.id}, fmt.Errorf("run %s goes on: %w", run.id, context.Cause(ctx))
	}
}

// OnSettled calls f once with what Wait will return: as soon as the run settles, or now if it has.
// Whoever waits for the run waits until f returns, so it must return quickly, and not wait for the run.
func (run *Run) OnSettled(f func(Result, error)) {
	run.mu.Lock()
	settled := run.settled
	if !settled {
		run.after = append(run.after, f)
	}
	run.mu.Unlock()
	if settled {
		f(run.result, run.err)
	}
}

// settle sets the outcome, once.
func (run *Run) settle(result Result, err error) {
	run.mu.Lock()
	run.result, run.err, run.settled = result, err, true
	after := run.after
	run.after = nil
	run.mu.Unlock()
	defer close(run.done) // even if one of them panics
	for _, f := range after {
		f(result, err)
	}
}

// Cancel makes the run end as cancelled, and does not wait for that. A run that has settled stays
// as it is.
func (run *Run) Cancel() { run.cancel(ErrCancelled) }

func outcome(run *recovery.Run) (Result, error) {
	result := Result{Run: run.ID, Status: run.Status, Text: run.Answer(), Model: run.Model, State: run}
	result.Truncated = run.Status == recovery.StatusCompleted && run.Truncated()
	switch {
	case run.Status == recovery.StatusCompleted:
		return result, nil
	case run.Status == recovery.StatusCancelled:
		return result, ErrCancelled
	case run.Status == recovery.StatusWaiting:
		return result, ErrParked
	case run.Open == nil:
		return result, fmt.Errorf("run %s stopped at event %d", run.ID, run.Seq)
	}
	failure := run.Open.Failure
	err := &Error{Run: run.ID, Failure: &failure}
	if run.SuggestionOpen() {
		err.Suggestion = run.Suggestion
	}
	return result, err
}

// doneContext is a context that is over when done is closed.
type doneContext struct {
	context.Context
	done <-chan struct{}
}

// Done gives the channel.
func (c doneContext) Done() <-chan struct{} { return c.done }

// Err reports whether it is closed.
func (c doneContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}
