package recovery

import (
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// ErrPassedOver says that a question is about an attempt that nobody asked about in its time.
var ErrPassedOver = errors.New("an attempt after this one was asked about already")

// Question asks what to do about a model call that another program made itself, and that failed.
type Question struct {
	// Call names the model call, in the caller's own words; the same call and attempt are answered
	// once, and alike from then on.
	Call string
	// Attempt is which of the call's attempts failed, from 0; Tried are those before it, of which
	// only the ones are looked at that nobody has asked about.
	Attempt int
	Tried   []TriedCall
	Model   string // that failed, provider/model

	Evidence     failure.Evidence
	Alternatives []string // what may be switched to, in order of preference
	AutoRecover  *bool    // nil = as it is configured
	Budget       Budget
	Shown        bool // a part of the answer was shown, and cannot be withdrawn
	Told         Told

	SessionKey, AgentID string
	Said                string // the last answer before the call, for plugins that were granted it
}

// TriedCall is an attempt that failed before the one that is asked about.
type TriedCall struct {
	Model    string
	Failure  failure.Failure
	At       time.Time // when it began; zero = not known
	Duration failure.Millis
}

// Report says how a call went on after it was asked about.
type Report struct {
	Call  string
	Model string // that answered or failed; "" = the one that was to be asked
	// Evidence is of the last failure, with which the caller gave up; nil = there is an answer.
	Evidence *failure.Evidence
}
