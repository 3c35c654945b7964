package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/mulligan-run/mulligan/recovery"
)

// WithMachine says what the machine of this process has, for runs that need it: a tool that is
// installed on only one machine, files, a model server. What a run needs comes from Request.Needs,
// Tool.Needs, and what of says about its model (nil = models need nothing). A run that needs more
// than has is begun and left to a process that keeps the log and has it: its Wait returns an error
// that is ErrLetGo and a *NeedsError. Without this option the machine has nothing.
func WithMachine(has recovery.Labels, of func(model string) recovery.Labels) Option {
	return func(r *Runner) { r.machine, r.modelNeeds = maps.Clone(has), of }
}

// ErrNeeds says that a run needs what this machine does not have; see NeedsError.
var ErrNeeds = errors.New("the run needs another machine")

// NeedsError says what a run needs of a machine. It is an ErrNeeds.
type NeedsError struct {
	Run   string
	Needs recovery.Labels
	Has   recovery.Labels // this machine
}

func (e *NeedsError) Error() string {
	has := "this one has no labels"
	if len(e.Has) > 0 {
		has = "this one has " + e.Has.String()
	}
	return fmt.Sprintf("run %s needs a machine that has %s; %s", e.Run, e.Needs, has)
}

// Is makes it an ErrNeeds.
func (e *NeedsError) Is(target error) bool { return target == ErrNeeds }

// able are the labels that runs driven here may need; it is never nil.
func (r *Runner) able() recovery.Labels {
	if r.machine == nil {
		return recovery.Labels{}
	}
	return r.machine
}

// ableFor says why a run cannot be driven here: what it needs, or an error of the log.
func (r *Runner) ableFor(ctx context.Context, id string) error {
	state, err := r.Inspect(ctx, id)
	if err != nil || state.Settled() { // a settled run has nothing left to do
		return err
	}
	return r.lacks(id, state.Needs)
}

// lacks is a *NeedsError if this machine lacks what a run needs.
func (r *Runner) lacks(id string, needs recovery.Labels) error {
	if !r.machine.Has(needs) {
		return &NeedsError{Run: id, Needs: needs, Has: r.machine}
	}
	return nil
}

// leftFor is why a run is left to others: an ErrLetGo, and also an ErrNeeds if that is the reason.
func (r *Runner) leftFor(id string, needs recovery.Labels) error {
	if lacks := r.lacks(id, needs); lacks != nil {
		return errors.Join(ErrLetGo, lacks)
	}
	return ErrLetGo
}

// needsOf is what a run needs of a machine: the request's needs, and those of its tools and model.
func (r *Runner) needsOf(req Request, model string, tools []Tool) (recovery.Labels, error) {
	var needs recovery.Labels // nil while nothing is needed
	add := func(what string, more recovery.Labels) error {
		for key, value := range more {
			if other, set := needs[key]; set && other != value {
				return fmt.Errorf("%s needs a machine that has %s=%s, and the run needs %s=%s: no machine has both", what, key, value, key, other)
			}
			if needs == nil {
				needs = recovery.Labels{}
			}
			needs[key] = value
		}
		return nil
	}
	err := add("the request", req.Needs)
	if r.modelNeeds != nil {
		err = errors.Join(err, add(model, r.modelNeeds(model)))
	}
	if req.Call == nil {
		for _, t := range tools {
			if t.isFor(model) {
				err = errors.Join(err, add("the tool "+t.Name, t.Needs))
			}
		}
	}
	if err == nil {
		err = needs.Check()
	}
	if err != nil {
		return nil, err
	}
	return needs, nil
}
