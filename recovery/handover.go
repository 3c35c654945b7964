package recovery

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// HandOver is the end of the attempt in the air when its owner stops in good order at now, such as
// a process that a newer version replaces. Written before the run is released, it tells the next
// owner that the run itself was not why the process stopped: unlike an attempt that is found
// without an owner, it counts neither as an interruption nor as a retry.
//
// It is an attempt like any other for the limits on attempts, of a model call and of a run. So
// whatever stops processes in good order again and again, the run itself included, is bounded:
// after the sixth attempt of a model call a person is asked.
func (r *Run) HandOver(now time.Time) Failed {
	f := r.interrupted()
	f.Elapsed = failure.InMillis(nonNegative(now.Sub(r.Attempt.BeganAt)))
	f.Variant = failure.VariantHandedOver
	f.Describe(failure.Words{})
	return Failed{Attempt: r.Attempt.ID, Failure: f, Cause: CauseHandedOver}
}

// handedOver reports whether the attempt was handed over by its owner.
func (o *OpenFailure) handedOver() bool { return o.Cause == CauseHandedOver }
