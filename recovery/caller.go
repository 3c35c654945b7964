package recovery

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/mulligan-run/mulligan/failure"
)

// A model call that another program makes through Mulligan is a run that ends with its
// first answer. Three facts of its Policy make it one: its tools are the caller's, what the
// caller has seen cannot be withdrawn, and what was asked need not be kept.

// ToolOwner says who carries out the tool calls of an answer.
type ToolOwner string

// The owners of a run's tools.
const (
	ToolsOfRun    ToolOwner = ""       // the runner
	ToolsOfCaller ToolOwner = "caller" // whoever asked: an answer ends the run, whatever it calls
)

// Delivery says what may follow where an attempt fails and a part of its answer was shown.
type Delivery string

// The ways to deliver an answer.
const (
	DeliverLive      Delivery = ""         // as it comes, to people: what they saw can be withdrawn
	DeliverWhole     Delivery = "hold"     // to a caller, once it is whole: there is nothing to withdraw
	DeliverFinal     Delivery = "error"    // to a caller, as it comes: what was shown stays, so that nothing may follow it
	DeliverContinued Delivery = "continue" // likewise, but for what goes on from there
)

// Keeping says what of a run's contents is durable.
type Keeping string

// What may be kept.
const (
	KeepContent Keeping = ""        // all that was asked and said
	KeepFigures Keeping = "figures" // sizes, digests, models, failures, votes and decisions
)

// Shown is what of an attempt's answer has reached its caller.
type Shown string

// What may have.
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

// size is how many bytes d stands for.
func (d *Digest) size() int {
	if d == nil {
		return 0
	}
	return max(0, d.Bytes)
}

// offersToPersons reports whether a person may still be asked about the failure at hand. A
// caller whose calls recover by themselves is told of the failure at once, and asks anew; one
// that asks for advice has persons of its own.
func (r *Run) offersToPersons() bool {
	return !r.showed() && !r.mistaken() && (r.advises() || r.Policy.Tools != ToolsOfCaller || !r.Policy.AutoRecover)
}

// showed reports whether nothing may follow the failure at hand: a caller has seen a part of
// the answer, and nothing may go on from there.
func (r *Run) showed() bool {
	return r.Open != nil && r.bound() && (r.Policy.Delivery == DeliverFinal || !r.Attempt.Continuable)
}

// mistaken reports whether the failure at hand is its caller's mistake: the model that it asked
// does not take what it says. Programs know what to do about that, such as to shorten their
// conversation, and nobody else is asked meanwhile. What we have made of a request, for another
// model or to go on from a part of an answer, is no mistake of the caller's, and who asks for
// advice has not made one yet.
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

// lost takes note of an owner that cannot go on: what was asked is in the memory of another
// one, which is gone.
func (r *Run) lost(b Claimed) {
	r.Lost = r.Policy.Keep == KeepFigures && !b.Holds
}

// giveUp ends a run that nobody can go on with, as interrupted.
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
