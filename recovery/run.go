package recovery

import (
	"maps"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// Status is where a run stands.
type Status string

// The statuses. A failed run with an open suggestion can still be recovered.
const (
	StatusRunning   Status = "running"
	StatusWaiting   Status = "waiting"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Run is what its events amount to. Apply and Carry are all that changes it; every field
// is for reading.
type Run struct {
	ID        string
	Seq       uint64    // of the last event applied
	Last      time.Time // its time
	StartedAt time.Time
	// WaitsUntil is the deadline of whoever asks; zero for none.
	WaitsUntil time.Time
	Session    string
	SessionKey string // what the caller calls its conversation
	AgentID    string // what the caller calls its agent
	Labels     Labels
	Continues  *Head
	Owner      string
	Epoch      uint64
	Inbox      uint64 // the last command that an event answered

	Policy Policy
	System string
	Tools  []ToolDecl
	Form   *Form  // nil = as the models like
	Chosen string // the model that was asked for
	Model  string // the model that is asked next

	Status   Status
	Messages []llm.Message // the transcript, this run's part with its input first; never error text
	Carried  int           // messages at its beginning that are of runs before this one; see Carry
	Rounds   int           // model calls answered
	Extended int           // how often a person gave as many rounds again
	Attempt  *Attempt      // of the round at hand; nil before its first
	Attempts uint64        // begun in all
	Call     Call          // counters of the model call at hand
	Pending  []*ToolRun    // tool calls of the last answer, in its order

	Compactions int         // of the conversation, without a finished model call in between
	Compacting  *Compacting // a summary in the air

	Restrictions   []Restriction // what plugins forbid it, as far as they have not taken it back
	Open           *OpenFailure  // the failure that nothing has answered yet
	Suggestion     *Suggestion   // open, or the last one; see SuggestionOpen
	Wait           *Waiting      // a live wait
	PausedFor      string        // why it waits for its store, or last did
	FailedAttempts int
	Granted        int            // extra attempts that persons' answers gave, in all
	Crashes        int            // interruptions in a row without a finished step
	IdleExpiries   map[string]int // by model, in a row without a finished step
	Spent          Budget
	Usage          llm.Usage
	Wasted         llm.Usage               // of it, by attempts that failed
	Saved          llm.Usage               // that going on after failures did not use again
	Repaired       map[string][]llm.Repair // by model: what was changed for it when it was told the transcript last
	LastStep       string                  // what finished last: a tool's name, "answer"; "" for nothing yet
	LastStepTook   failure.Millis
	LastStepAt     time.Time     // where the step's clock counts from; see rearmStep
	BeyondDay      bool          // a person let it go on over the day's budget
	Parked         time.Duration // time that does not count towards max_turn
	Lost           bool          // what was asked is nowhere any more; see Keeping
	End            *Ended

	expired     failure.Timer // step, max_turn or run fired and no Failed says so yet
	cancelled   bool
	offer       suggestionState // how r.Suggestion stands
	acceptedID  string          // the id of the suggestion or wait that was answered last, but for a stop
	truncated   bool
	again       bool      // the answer that was cut was asked for once more
	byEngine    bool      // an engine gave the last answer
	cutTokens   int64     // output tokens of the last answer
	told        int       // bytes of a request, about
	kept        llm.Usage // by attempts that were answered
	unsure      *ToolRun  // its outcome is unknown, and nobody was asked about that
	cooling     *Cooldown // of its model, before the first call
	stepDoubled bool      // a person chose to wait longer for the step at hand
	lastSeen    time.Time // when people saw something last
	reserved    Budget
	parkedFrom  time.Time
	whole       bool // see Whole
}

// SuggestionOpen reports whether r's suggestion is open, as far as its events know: its time
// may be over without anybody having written that down. See OpenSuggestion.
func (r *Run) SuggestionOpen() bool {
	return r.offer == suggestionOpen && !r.cancelled
}

// OpenSuggestion is the suggestion that a person may answer at a time, nil for none.
func (r *Run) OpenSuggestion(now time.Time) *Suggestion {
	if !r.SuggestionOpen() || !now.Before(r.Suggestion.ExpiresAt) {
		return nil
	}
	return r.Suggestion
}

// Settled reports whether nothing more happens to r without a person: it has
// ended, or its suggestion is open.
func (r *Run) Settled() bool { return r.End != nil || r.SuggestionOpen() }

// Truncated reports whether the answer was cut at the output limit.
func (r *Run) Truncated() bool {
	return r.truncated && (r.Attempt == nil || len(r.Attempt.Text) == 0)
}

// Answer is the text of the last answer, or the partial text of the attempt that
// failed last.
func (r *Run) Answer() string {
	if r.Attempt != nil && r.Attempt.Text != "" {
		return r.Attempt.Text
	}
	if n := len(r.Messages); n > r.Carried && r.Messages[n-1].Role == llm.RoleAssistant {
		return r.Messages[n-1].Text()
	}
	return ""
}

// Fold makes a run out of its events.
func Fold(events []Event) (*Run, error) {
	r := &Run{}
	for _, e := range events {
		if err := r.Apply(e); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Clone is r for somebody who reads it while r goes on: what Apply changes in place is
// copied, what it only adds to or replaces is shared.
func (r *Run) Clone() *Run {
	c := *r
	if r.Attempt != nil {
		attempt := *r.Attempt
		c.Attempt = &attempt
	}
	if r.Open != nil {
		open := *r.Open
		c.Open = &open
	}
	c.Pending = slices.Clone(r.Pending)
	for i, t := range c.Pending {
		tool := *t
		c.Pending[i] = &tool
		if t == r.unsure {
			c.unsure = &tool
		}
	}
	c.Repaired = maps.Clone(r.Repaired)
	return &c
}
