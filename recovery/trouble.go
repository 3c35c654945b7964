package recovery

import (
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// How many kinds of a run's failures are remembered.
const (
	maxKinds  = 16 // different ones
	maxFailed = 64 // in all
)

// Trouble is what the failures of a run's model calls took.
type Trouble struct {
	Kinds    []failure.Kind // of failed attempts, each once, in order; at most maxKinds
	Failed   []failure.Kind `proto:"-"` // of every failed attempt, in order; the newest maxFailed
	Switches int            // to another model, after a failure
	Took     failure.Millis // from the first failure of a call to its answer, summed over the calls that were answered
	Wasted   Budget         // what failed attempts cost, as far as is known
}

// Recovered reports whether r was completed although attempts of its model calls had failed.
func (r *Run) Recovered() bool {
	return r.End != nil && r.End.Status == StatusCompleted && len(r.Trouble.Kinds) > 0
}

// met records the failure of an attempt and what the attempt cost.
func (t *Trouble) met(kind failure.Kind, cost Budget) {
	t.Wasted = t.Wasted.Plus(cost)
	t.Failed = append(t.Failed[max(0, len(t.Failed)-maxFailed+1):], kind)
	if len(t.Kinds) < maxKinds && !slices.Contains(t.Kinds, kind) {
		t.Kinds = append(slices.Clip(t.Kinds), kind)
	}
}

// overcome records that a call was answered; failed is when it first failed, zero if it did not.
func (t *Trouble) overcome(failed, now time.Time) {
	if !failed.IsZero() {
		t.Took += failure.InMillis(nonNegative(now.Sub(failed)))
	}
}
