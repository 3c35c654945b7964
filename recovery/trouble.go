package recovery

import (
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// How many kinds of failures of a run are remembered.
const (
	maxKinds  = 16 // that differ
	maxFailed = 64 // in all
)

// Trouble is what the failures of a run's model calls took.
type Trouble struct {
	Kinds    []failure.Kind // of attempts that failed, each once, in order; at most maxKinds
	Failed   []failure.Kind `proto:"-"` // of every attempt that failed, in order: the newest maxFailed
	Switches int            // to another model, after a failure
	Took     failure.Millis // from the first failure of a call to its answer, of all calls that were answered after all
	Wasted   Budget         // what attempts that failed cost, as far as is known
}

// Recovered reports whether r was completed although attempts of its model calls had failed.
func (r *Run) Recovered() bool {
	return r.End != nil && r.End.Status == StatusCompleted && len(r.Trouble.Kinds) > 0
}

// met notes a failure of an attempt, which cost so much.
func (t *Trouble) met(kind failure.Kind, cost Budget) {
	t.Wasted = t.Wasted.Plus(cost)
	t.Failed = append(slices.Clip(t.Failed[max(0, len(t.Failed)-maxFailed+1):]), kind)
	if len(t.Kinds) < maxKinds && !slices.Contains(t.Kinds, kind) {
		t.Kinds = append(slices.Clip(t.Kinds), kind)
	}
}

// overcome notes that a call was answered, which had failed first at that time; zero = it had not.
func (t *Trouble) overcome(failed, now time.Time) {
	if !failed.IsZero() {
		t.Took += failure.InMillis(nonNegative(now.Sub(failed)))
	}
}
