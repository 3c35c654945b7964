package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// Runner starts and drives runs. It is safe for concurrent use. The options of New decide
// everything about it.
type Runner struct {
	beginning  locks // of ids that requests chose
	recall     recall
	claiming   locks // of runs that are claimed here and not driven yet
	log        timeline.Log
	models     Models
	hooks      func() []hooks.Named
	health     Health
	recent     recentCalls
	classify   failure.Classifier // for a model's errors that are not a failure.Failure yet
	policy     recovery.Policy
	model      string
	system     string
	tools      func() []Tool
	owner      string
	now        func() time.Time
	slept      func() time.Duration
	leaseTTL   time.Duration
	leases     leases
	handsOver  bool                               // see WithHandOver
	machine    recovery.Labels                    // see WithMachine
	modelNeeds func(model string) recovery.Labels // nil = models need nothing
	logger     *slog.Logger
	observers  []Observer
	driven     sync.Map                                                    // id → *Run, of runs that this Runner drives
	calls      sync.Map                                                    // id → *Call, of runs that are open here
	settings   recovery.Settings                                           // timers of all runs
	timeouts   func(model string, run recovery.Settings) recovery.Timeouts // nil = settings, and the run's own
	minTimeout time.Duration
	deadlines  hooks.Deadlines
	refused    refusals
	stays      stays
	busy       busy // runs that are driven, and tools that have not ended
	slow       slow
	unadvised  sync.Once

	tails   tails
	schemas schemas

	connectivity Connectivity
	detached     context.Context // how long runs go on; nil = as long as the context that starts or resumes them
}

// Models finds a model by its full name, provider/model.
type Models interface {
	// Model gives the model, or an error that lists the known names.
	Model(name string) (llm.Model, error)
	// Has reports whether the model could be called now: it is known and has credentials.
	Has(name string) bool
	// Capabilities is what is known about what the model accepts.
	Capabilities(name string) llm.Capabilities
}

// Health is what is known about models across runs; *health.Health is one.
type Health interface {
	Failed(model string, f failure.Failure, at time.Time)
	Succeeded(model string)
	Cooling(model string, at time.Time) (recovery.Cooldown, bool)
	// Turn takes the next turn to call model, and says how long it is until then.
	Turn(model string) time.Duration

	// Reserve counts what a call may use against the day's budget, unless the budget lacks room.
	Reserve(at time.Time, reserve, limit recovery.Budget) (spent recovery.Budget, lacks string)
	// Spend corrects what was counted for a call that began at that time.
	Spend(at time.Time, used recovery.Budget)
	// Tomorrow is when the budget of the day after at's begins.
	Tomorrow(at time.Time) time.Time
}

// Troubled is a Health that says at once, without I/O, whether Succeeded would change anything at that
// time: it is called only then, since nearly all models are well.
type Troubled interface {
	Health
	Troubled(model string, at time.Time) bool
}

// Item is what Events and Follow yield: a durable event, a live piece of text, or a notice.
type Item = timeline.Item

// Run runs a prompt to its end and returns the answer's text. If the answer was cut at the output
// limit, it returns the text so far and ErrTruncated.
func (r *Runner) Run(ctx context.Context, prompt string) (string, error) {
	result, err := r.Do(ctx, Request{Prompt: prompt})
	if err == nil && result.Truncated {
		err = ErrTruncated
	}
	return result.Text, err
}

// Do begins a run as Start does, and waits for its outcome as Wait does; if the run was not begun,
// the Result is zero. It costs less than the two: it makes the first call of a model that is an
// llm.Interruptible on its own goroutine, since another one would have to be woken, and grow its
// stack.
func (r *Runner) Do(ctx context.Context, req Request) (Result, error) {
	req.awaited = r.detached == nil // otherwise the run may go on after Do
	run, err := r.Start(ctx, req)
	if err != nil {
		return Result{}, err
	}
	if run.first != nil {
		run.first()
	}
	return r.outcome(ctx, run)
}

// Follow yields what happens to a run, whichever process drives it, after the event numbered seq;
// including live text if it is driven here. It ends after the run's Ended event, or when ctx does.
// An open suggestion does not end it, since the run may go on. Otherwise the last item is an error,
// such as timeline.ErrNotFound.
func (r *Runner) Follow(ctx context.Context, id string, seq uint64) iter.Seq2[Item, error] {
	return r.log.Follow(ctx, id, seq)
}

// Owner is the name under which this Runner owns runs: its machine, its process, and an id of its
// own.
func (r *Runner) Owner() string { return r.owner }

// outcome waits for a run that ends with ctx, unless it is detached.
func (r *Runner) outcome(ctx context.Context, run *Run) (Result, error) {
	if r.detached == nil {
		ctx = context.WithoutCancel(ctx)
	}
	return run.Wait(ctx)
}

// Cancel ends a run, whichever process drives it. Without an error the run has ended. ErrSent says
// that another process drives it, was told, and ends it within 2 s.
func (r *Runner) Cancel(ctx context.Context, id string) error {
	for {
		if run, ok := r.drives(id); ok {
			run.Cancel()
			if over, err := ended(run); over || err != nil {
				return err
			}
			continue // it had settled before it received the cancel
		}
		l, err := r.claim(ctx, id)
		if _, here := r.drives(id); here && errors.Is(err, timeline.ErrOwned) {
			continue
		}
		switch {
		case errors.Is(err, timeline.ErrOwned):
			return r.cancelOwned(ctx, id)
		case err != nil:
			return err
		case l.run.End != nil:
			l.release()
			return nil
		}
		l.here = true // it ends immediately
		run, err := l.goOn(ctx, recovery.CancelRequested{})
		if err != nil {
			return fmt.Errorf("cancel run %s: %w", id, err)
		}
		_, err = ended(run)
		return err
	}
}

// Drain waits until this Runner drives no run any more, and no tool is still ending after its run.
// If ctx ends before, it returns ctx's cause.
func (r *Runner) Drain(ctx context.Context) error {
	select {
	case <-r.busy.idle():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Policy gives a copy of the policy that runs start with, for a Request to change.
func (r *Runner) Policy() recovery.Policy {
	p := r.policy
	p.Models, p.Plugins = slices.Clone(p.Models), slices.Clone(p.Plugins)
	p.Prices, p.ModelTimeouts = maps.Clone(p.Prices), maps.Clone(p.ModelTimeouts)
	return p
}
