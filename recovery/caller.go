package recovery

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/mulligan-run/mulligan/failure"
)

// A model call that another program makes through Mulligan is a run that ends with its first
// answer. Three fields of its Policy make it one: the tools are the caller's, what the caller has
// seen cannot be withdrawn, and the request need not be kept.

// ToolOwner says who carries out the tool calls of an answer.
type ToolOwner string

// The owners of a run's tools.
const (
	ToolsOfRun    ToolOwner = ""       // the runner
	ToolsOfCaller ToolOwner = "caller" // the caller: an answer ends the run, even if it calls tools
)

// Delivery says how the caller gets an answer, and so what may follow an attempt that failed
// after a part of its answer was shown.
type Delivery string

// The ways to deliver an answer.
const (
	DeliverLive      Delivery = ""         // as it comes, to people: text they saw can be withdrawn
	DeliverWhole     Delivery = "hold"     // to a caller, once it is whole: nothing ever has to be withdrawn
	DeliverFinal     Delivery = "error"    // to a caller, as it comes: text it saw stays, so that no attempt may follow
	DeliverContinued Delivery = "continue" // as DeliverFinal, but an attempt may follow that goes on from the text
)

// Keeping says what of a run's contents is durable.
type Keeping string

// The ways of keeping a run's contents.
const (
	KeepContent Keeping = ""        // all that was asked and said
	KeepFigures Keeping = "figures" // sizes, digests, models, failures, votes and decisions
)

// Shown says how much of an attempt's answer has reached the caller.
type Shown string

// The values of Shown.
const (
	ShownNothing Shown = ""
	ShownPart    Shown = "part"
)

// Digest stands for contents that are not kept.
type Digest struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"` // in base64url
}

// DigestOf is the digest of content.
func DigestOf(content []byte) *Digest {
	sum := sha256.Sum256(content)
	return &Digest{Bytes: len(content), SHA256: base64.RawURLEncoding.EncodeToString(sum[:])}
}

// size is the number of bytes that d stands for.
func (d *Digest) size() int {
	if d == nil {
		return 0
	}
	return max(0, d.Bytes)
}

// offersToPersons reports whether a person may still be asked about the failure at hand. A caller
// whose calls recover by themselves is told of the failure at once, and asks anew; one that asks
// for advice asks persons itself.
func (r *Run) offersToPersons() bool {
	return !r.showed() && !r.mistaken() && (r.advises() || r.Policy.Tools != ToolsOfCaller || !r.Policy.AutoRecover)
}

// showed reports whether no attempt may follow the failure at hand: the caller has seen a part of
// the answer, and no attempt can go on from there.
func (r *Run) showed() bool {
	return r.Open != nil && r.bound() && (r.Policy.Delivery == DeliverFinal || !r.Attempt.Continuable)
}

// mistaken reports whether the failure at hand is the caller's own mistake: the model that it
// named does not accept its request. Programs know what to do then, such as to shorten their
// conversation, and nobody else is asked. It is not the caller's mistake if Mulligan changed the
// request, for another model or to continue a partial answer; and a caller that only asks for
// advice has made none.
func (r *Run) mistaken() bool {
	if r.Policy.Tools != ToolsOfCaller || r.advises() || r.Open == nil || r.Attempt == nil {
		return false
	}
	switch r.Open.Failure.Kind {
	case failure.KindInvalidRequest, failure.KindContextOverflow:
		return r.Attempt.Model == r.Chosen && r.Attempt.Continues == 0
	}
	return false
}

// leaveToPerson leaves the decision to a person, where there may be one to take it.
func (r *Run) leaveToPerson() []Effect {
	if !r.offersToPersons() {
		return r.fail()
	}
	return record(r, Suggested{Suggestion: r.suggest()})
}

// lost marks a run whose new owner cannot go on: the request was only in the memory of the owner
// before.
func (r *Run) lost(b Claimed) {
	r.Lost = r.Policy.Keep == KeepFigures && !b.Holds
}

// giveUp ends a run that no owner can go on with, as interrupted.
func (r *Run) giveUp() []Effect {
	if r.Open != nil && r.inAir() == 0 {
		return record(r, Ended{Status: StatusFailed, StopReason: string(failure.KindInterrupted)})
	}
	phase := failure.PhaseBeforeConnect
	if r.Attempt != nil {
		phase = failure.PhaseMidStream
	}
	f := r.failure(failure.KindInterrupted, failure.OriginRunner, phase)
	if r.Attempt != nil {
		f.Model, f.Elapsed = r.Attempt.Model, failure.InMillis(nonNegative(r.Last.Sub(r.Attempt.BeganAt)))
	}
	return record(r, Failed{Attempt: r.inAir(), Failure: f})
}
