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

// Runner starts and drives runs. It is safe for concurrent use; New's options
// decide everything about it.
type Runner struct {
	beginning  locks // of ids that requesters chose
	recall     recall
	claiming   locks // of runs that are claimed here and not driven yet
	log        timeline.Log
	models     Models
	hooks      func() []hooks.Named
	health     Health
	policy     recovery.Policy
	model      string
	system     string
	tools      func() []Tool
	owner      string
	now        func() time.Time
	slept      func() time.Duration
	leaseTTL   time.Duration
	logger     *slog.Logger
	observer   Observer                                                    // nil = nobody
	driven     sync.Map                                                    // id → *Run, of the runs that this Runner drives
	settings   recovery.Settings                                           // timers of all runs
	timeouts   func(model string, run recovery.Settings) recovery.Timeouts // nil = settings and the run's own
	minTimeout time.Duration
	deadlines  hooks.Deadlines
	busy       busy // runs that are driven, tools that have not ended
	unadvised  sync.Once

	checkpoints checkpoints
	schemas     schemas

	connectivity Connectivity
}

// Models finds a model by its full name, provider/model.
type Models interface {
	// Model gives the model, or an error that says which names there are.
	Model(name string) (llm.Model, error)
	// Has reports whether the model could be called now: it is known and has
	// credentials.
	Has(name string) bool
	// ContextTokens is the size of its context window, 0 where it is not known.
	ContextTokens(name string) int64
}

// Health is what is known about models across runs; *health.Health is one.
type Health interface {
	Failed(model string, f failure.Failure, at time.Time)
	Succeeded(model string)
	Cooling(model string, at time.Time) (recovery.Cooldown, bool)
	// Turn takes the next turn to call model, and gives how long it is until then.
	Turn(model string) time.Duration

	// Reserve counts what a call may use against the day's budget, unless that lacks room.
	Reserve(at time.Time, reserve, limit recovery.Budget) (spent recovery.Budget, lacks string)
	// Spend corrects what was counted of a call that began at that time.
	Spend(at time.Time, used recovery.Budget)
}

// Event is what a run's Events yield: a durable event, or a live piece of text.
type Event = timeline.Item

// Run runs a prompt to its end and gives the answer's text. Of an answer that was cut at the
// output limit it gives what there is, and ErrTruncated.
func (r *Runner) Run(ctx context.Context, prompt string) (string, error) {
	run, err := r.Start(ctx, Request{Prompt: prompt})
	if err != nil {
		return "", err
	}
	result, err := run.Wait()
	if err == nil && result.Truncated {
		err = ErrTruncated
	}
	return result.Text, err
}

// Stream runs a prompt and yields what happens; the error, if any, comes last and
// is the one that Wait gives. Breaking off cancels the run.
func (r *Runner) Stream(ctx context.Context, prompt string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		run, err := r.Start(ctx, Request{Prompt: prompt})
		if err != nil {
			yield(Event{}, err)
			return
		}
		for event, err := range run.Events() {
			if !yield(event, err) || err != nil {
				cancel()
				<-run.done
				return
			}
		}
		if _, err := run.Wait(); err != nil {
			yield(Event{}, err)
		}
	}
}

// Cancel ends a run, whoever drives it. Without an error the run has ended; or another
// process drives it and was told, as ErrSent says, and ends it within 2 s.
func (r *Runner) Cancel(ctx context.Context, id string) error {
	for {
		if run, ok := r.drives(id); ok {
			run.Cancel()
			if over, err := ended(run); over || err != nil {
				return err
			}
			continue // it had settled before it heard of that
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
		run, err := l.goOn(ctx, recovery.CancelRequested{})
		if err != nil {
			return fmt.Errorf("cancel run %s: %w", id, err)
		}
		_, err = ended(run)
		return err
	}
}

// Drain waits until nothing of this Runner's runs is going on: neither runs that are
// driven, nor tools that are still ending after their runs have.
func (r *Runner) Drain(ctx context.Context) error {
	select {
	case <-r.busy.idle():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Policy gives a copy of what runs start with, for a Request to change.
func (r *Runner) Policy() recovery.Policy {
	p := r.policy
	p.Models, p.Plugins = slices.Clone(p.Models), slices.Clone(p.Plugins)
	p.Prices, p.ModelTimeouts = maps.Clone(p.Prices), maps.Clone(p.ModelTimeouts)
	return p
}
