package recovery

import (
	"errors"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// ErrPassedOver says that a later attempt has already been asked about, so that advice about this
// one comes too late.
var ErrPassedOver = errors.New("a later attempt was already asked about")

// Question asks what to do about a model call that another program made itself, and that failed.
type Question struct {
	// Call names the model call in the caller's own words. The same call and attempt always get
	// the same answer.
	Call string
	// Attempt is which of the call's attempts failed, from 0. Tried lists the attempts before it;
	// only those that nobody asked about are taken into account.
	Attempt int
	Tried   []TriedCall
	Model   string // the model that failed, provider/model

	Evidence     failure.Evidence
	Alternatives []string // what may be switched to, in order of preference
	AutoRecover  *bool    // nil = as configured
	Budget       Budget
	Shown        bool // a part of the answer was shown, and cannot be withdrawn
	Told         Told

	SessionKey, AgentID string
	Said                string // the last answer before the call, for plugins that may see it
}

// TriedCall is an attempt that failed before the one in question.
type TriedCall struct {
	Model    string
	Failure  failure.Failure
	At       time.Time // when it began; zero = unknown
	Duration failure.Millis
}

// Report says how a call went on after advice was asked for.
type Report struct {
	Call  string
	Model string // the model that answered or failed; "" = the one that was advised
	// Evidence describes the last failure, after which the caller gave up; nil = the call was
	// answered.
	Evidence *failure.Evidence
}
