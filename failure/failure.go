package failure

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
)

// Origin says whose failure it is.
type Origin string

// The origins.
const (
	OriginModel  Origin = "model"
	OriginTool   Origin = "tool"
	OriginPrompt Origin = "prompt"
	OriginHook   Origin = "hook"
	OriginRunner Origin = "runner"
)

// Phase says how far the attempt had come.
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

// Timer names a clock (spec §3).
type Timer string

// The timers that a Failure may name, the one that only tells people, and the two
// that only wait.
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
	TimerPatience Timer = "patience"       // how long a call that fails is kept at

	TimerWait    Timer = "wait"    // a deliberate wait is over
	TimerNetwork Timer = "network" // this machine is connected again
	TimerExpiry  Timer = "expiry"  // an open suggestion's time is over
)

// MaxDetail is the most that a Failure keeps of the provider's words, in bytes.
const MaxDetail = 8 << 10

// Failure is what went wrong with an attempt (spec §2). It is a Go error; while
// the process lives it unwraps to the original one. It never holds a secret.
type Failure struct {
	Kind      Kind   `json:"kind"`
	Code      Code   `json:"code"`
	Variant   string `json:"variant,omitempty"` // a finer word, for people alone: missing, expired_login, stalled, outcome_unknown, …
	Origin    Origin `json:"origin"`
	Phase     Phase  `json:"phase"`
	Retryable bool   `json:"retryable"` // with the same input

	Provider     string `json:"provider,omitempty"` // the entry's name, for example "anthropic"
	Model        string `json:"model,omitempty"`    // full name, provider/model
	HTTPStatus   int    `json:"httpStatus,omitempty"`
	ProviderCode string `json:"providerCode,omitempty"`
	RequestID    string `json:"requestId,omitempty"`
	Tool         string `json:"tool,omitempty"`

	RetryAfter Millis    `json:"retryAfterMs,omitempty"` // the provider's own demand; 0 = none
	ResetsAt   time.Time `json:"resetsAt,omitzero"`

	Timer    Timer  `json:"timer,omitempty"`     // which clock fired
	Limit    Millis `json:"limitMs,omitempty"`   // what it was set to
	Elapsed  Millis `json:"elapsedMs,omitempty"` // how long the attempt, step or run had taken
	LastStep string `json:"lastStep,omitempty"`  // what finished last

	LastStepElapsed Millis `json:"lastStepElapsedMs,omitempty"` // how long the last step took, or has been going on

	Title   string `json:"title"`            // for people; title + ". " + message is the one-line form
	Message string `json:"message"`          // never repeats the title
	Detail  string `json:"detail,omitempty"` // the provider's words: ≤ MaxDetail bytes, valid UTF-8, secrets removed

	// Row is where the row of somebody's own stands that decided Kind, for people: "row 2 of
	// mulligan.yaml"; "" where none did.
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

// Error is the one-line form, with the provider's words where there are any.
func (f *Failure) Error() string {
	line := f.Line()
	if f.Detail != "" {
		line += " (" + words.Clip(f.Detail, 512) + ")"
	}
	return line
}

// Line is "title. message", or the kind where there are no words yet.
func (f *Failure) Line() string {
	switch {
	case f.Title == "":
		return string(f.Kind)
	case f.Message == "":
		return f.Title
	}
	return f.Title + ". " + f.Message
}

// Unwrap gives the original error while the process that saw it lives.
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

// Panicked is the failure that a panic in an embedder's Model amounts to.
func Panicked(value any, phase Phase) *Failure {
	f := NewFailure(KindInternal, OriginRunner, phase, fmt.Errorf("panic: %v", value))
	f.Detail = words.Clip(fmt.Sprintf("panic: %v", value), MaxDetail)
	f.Describe(Words{Reason: "A part of the program panicked."})
	return f
}

// ProviderEntry is the entry's name of a failure, by its model where nobody said.
func (f *Failure) ProviderEntry() string {
	if f.Provider != "" {
		return f.Provider
	}
	if entry, _, ok := strings.Cut(f.Model, "/"); ok {
		return entry
	}
	return ""
}

// LocalLine is Line with its times as Clock says them where now is told.
func (f Failure) LocalLine(now time.Time) string { return words.Localize(f.Line(), f.ResetsAt, now) }
