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

// Delivery says how the caller gets an answer, and therefore what may follow an attempt that failed
// after part of its answer was shown.
type Delivery string

// The ways to deliver an answer.
const (
	DeliverLive      Delivery = ""         // as it comes, to people: text they saw can be withdrawn
	DeliverWhole     Delivery = "hold"     // to a caller, once it is whole: nothing ever has to be withdrawn
	DeliverFinal     Delivery = "error"    // to a caller, as it comes: text it saw stays, so no attempt may follow
	DeliverContinued Delivery = "continue" // as DeliverFinal, but an attempt that continues the text may follow
)

// Keeping says which contents of a run are durable.
type Keeping string

// The ways to keep a run's contents.
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

// offersToPersons reports whether a person may still be asked about the open failure. A caller
// whose calls recover by themselves gets the failure at once and can ask again. A caller that asks
// for advice asks people itself.
func (r *Run) offersToPersons() bool {
	return !r.showed() && !r.mistaken() && (r.advises() || r.Policy.Tools != ToolsOfCaller || !r.Policy.AutoRecover)
}

// showed reports whether no attempt may follow the open failure because the caller has seen part of
// the answer and no attempt can continue it.
func (r *Run) showed() bool {
	return r.Open != nil && r.bound() && (r.Policy.Delivery == DeliverFinal || !r.Attempt.Continuable)
}

// mistaken reports whether the open failure is the caller's own mistake: the model that it named
// does not accept its request. Programs know what to do then, such as shortening their
// conversation, and nobody else is asked. It is not the caller's mistake if Mulligan changed the
// request, for another model or to continue a partial answer. A caller that only asks for advice is
// never mistaken.
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

// leaveToPerson leaves the decision to a person, if one may take it.
func (r *Run) leaveToPerson() []Effect {
	if !r.offersToPersons() {
		return r.fail()
	}
	return record(r, Suggested{Suggestion: r.suggest()})
}

// lost marks a run that its new owner cannot go on with: the request was only in the memory of the
// previous owner.
func (r *Run) lost(b Claimed) {
	r.Lost = r.Policy.Keep == KeepFigures && !b.Holds
}

// giveUp ends, as interrupted, a run that no owner can go on with.
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
