package failure

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
)

// Origin says which part of the system failed.
type Origin string

// The origins.
const (
	OriginModel  Origin = "model"
	OriginTool   Origin = "tool"
	OriginPrompt Origin = "prompt"
	OriginHook   Origin = "hook"
	OriginRunner Origin = "runner"
)

// Phase says how far the attempt had got.
type Phase string

// The phases, in the order in which an attempt goes through them.
const (
	PhasePrompt           Phase = "prompt"
	PhaseBeforeConnect    Phase = "before_connect"
	PhaseBeforeFirstEvent Phase = "before_first_event"
	PhaseMidStream        Phase = "mid_stream"
	PhaseEndOfStream      Phase = "end_of_stream"
	PhaseTool             Phase = "tool"
)

// Timer names a timer (spec §3).
type Timer string

// The timers that a Failure may name, then the one that only informs people, then those that only
// wait.
const (
	TimerConnect    Timer = "connect"
	TimerFirstEvent Timer = "first_event"
	TimerBytes      Timer = "bytes"
	TimerIdle       Timer = "idle"
	TimerStep       Timer = "step"
	TimerMaxTurn    Timer = "max_turn"
	TimerRun        Timer = "run"
	TimerTool       Timer = "tool"

	TimerProgress Timer = "progress_after" // a step takes long
	TimerPatience Timer = "patience"       // how long a failing call is retried

	TimerWait    Timer = "wait"    // a deliberate wait ends
	TimerNetwork Timer = "network" // this machine is connected again
	TimerExpiry  Timer = "expiry"  // an open suggestion expires
)

// MaxDetail is how much of the provider's words a Failure keeps, in bytes.
const MaxDetail = 8 << 10

// Failure is what went wrong with an attempt (spec §2). It is a Go error that unwraps to the
// original one in the process that made it. It never holds a secret.
type Failure struct {
	Kind      Kind   `json:"kind"`
	Code      Code   `json:"code"`
	Variant   string `json:"variant,omitempty"` // a finer distinction, for people only: missing, expired_login, stalled, outcome_unknown, …
	Origin    Origin `json:"origin"`
	Phase     Phase  `json:"phase"`
	Retryable bool   `json:"retryable"` // whether the same request may succeed later

	Provider     string `json:"provider,omitempty"` // the entry's name, for example "anthropic"
	Model        string `json:"model,omitempty"`    // full name, provider/model
	HTTPStatus   int    `json:"httpStatus,omitempty"`
	ProviderCode string `json:"providerCode,omitempty"`
	RequestID    string `json:"requestId,omitempty"`
	Tool         string `json:"tool,omitempty"`

	RetryAfter Millis    `json:"retryAfterMs,omitempty"` // how long the provider asks to wait; 0 = it does not
	ResetsAt   time.Time `json:"resetsAt,omitzero"`

	Timer    Timer  `json:"timer,omitempty"`     // which timer expired
	Limit    Millis `json:"limitMs,omitempty"`   // its limit
	Elapsed  Millis `json:"elapsedMs,omitempty"` // how long the attempt, step or run had taken
	LastStep string `json:"lastStep,omitempty"`  // the last step that finished

	LastStepElapsed Millis `json:"lastStepElapsedMs,omitempty"` // how long the last step took, or the current one has taken so far

	Title   string `json:"title"`            // for people; title + ". " + message is the one-line form
	Message string `json:"message"`          // never repeats the title
	Detail  string `json:"detail,omitempty"` // the provider's words: ≤ MaxDetail bytes, valid UTF-8, secrets removed

	// Row names, for people, the row of a Local that decided Kind: "row 2 of mulligan.yaml"; "" if
	// none did.
	Row string `json:"row,omitempty" proto:"-"`

	cause error
}

// NewFailure makes a Failure of the given kind with its code and retryability.
func NewFailure(kind Kind, origin Origin, phase Phase, cause error) *Failure {
	return &Failure{
		Kind: kind, Code: kind.Code(), Retryable: kind.Retryable(),
		Origin: origin, Phase: phase, cause: cause,
	}
}

// Error is the one-line form, followed by the provider's words if there are any.
func (f *Failure) Error() string {
	line := f.Line()
	if f.Detail != "" {
		line += " (" + words.Clip(f.Detail, 512) + ")"
	}
	return line
}

// Line is "title. message", or the kind if there are no words yet.
func (f *Failure) Line() string {
	switch {
	case f.Title == "":
		return string(f.Kind)
	case f.Message == "":
		return f.Title
	}
	return f.Title + ". " + f.Message
}

// Unwrap gives the original error; nil in a process other than the one that saw it.
func (f *Failure) Unwrap() error { return f.cause }

// ErrorType is the kind, for telemetry.
func (f *Failure) ErrorType() string { return string(f.Kind) }

// AsFailure finds the Failure in err's chain.
func AsFailure(err error) (*Failure, bool) {
	var f *Failure
	ok := errors.As(err, &f)
	return f, ok
}

// IsIdle reports whether f counts towards the idle breaker (spec §3).
func (f *Failure) IsIdle() bool {
	return f.Timer == TimerFirstEvent || f.Timer == TimerBytes || f.Timer == TimerIdle
}

// Panicked is the failure of a panic in an embedder's Model.
func Panicked(value any, phase Phase) *Failure {
	f := NewFailure(KindInternal, OriginRunner, phase, fmt.Errorf("panic: %v", value))
	f.Detail = words.Clip(fmt.Sprintf("panic: %v", value), MaxDetail)
	f.Describe(Words{Reason: "A part of the program panicked."})
	return f
}

// ProviderEntry is the name of the provider's entry, taken from Model if Provider is empty.
func (f *Failure) ProviderEntry() string {
	if f.Provider != "" {
		return f.Provider
	}
	if entry, _, ok := strings.Cut(f.Model, "/"); ok {
		return entry
	}
	return ""
}

// LocalLine is Line with the times of day written by words.Clock for somebody who reads it at now.
func (f Failure) LocalLine(now time.Time) string { return words.Localize(f.Line(), f.ResetsAt, now) }
