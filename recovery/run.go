package recovery

import (
	"maps"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// Status is the state of a run.
type Status string

// The statuses. A failed run with an open suggestion may still be recovered.
const (
	StatusRunning   Status = "running"
	StatusWaiting   Status = "waiting"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Run is what its events amount to. Only Apply and Carry change it; everything else only reads its
// fields.
type Run struct {
	ID        string
	Seq       uint64    // of the last event applied
	Last      time.Time // its time
	StartedAt time.Time
	// WaitsUntil is the caller's deadline; zero for none.
	WaitsUntil time.Time
	Session    string
	SessionKey string // what the caller calls its conversation
	AgentID    string // what the caller calls its agent
	Labels     Labels
	Needs      Labels // the labels that a machine must have to drive it
	Continues  *Head
	Owner      string
	Epoch      uint64
	Inbox      uint64 // position of the last command that an event answered

	Policy Policy
	System string
	Tools  []ToolDecl
	Form   *Form  // nil = any answer
	Chosen string // the model that was asked for when the run began
	Model  string // the model that is asked next

	Status   Status
	Messages []llm.Message // the transcript; the run's input is its first own message; never error text
	Carried  int           // how many messages at its beginning come from earlier runs; see Carry
	Rounds   int           // model calls answered
	Extended int           // how often a person allowed MaxRounds more
	Attempt  *Attempt      // of the current round; nil before the first
	Attempts uint64        // begun in all
	Call     Call          // counters of the current model call
	Pending  []*ToolRun    // tool calls of the last answer, in order

	Compactions int         // of the conversation, without a finished model call in between
	Compacting  *Compacting // the summary in the air

	Restrictions   []Restriction // what plugins forbid and have not taken back
	Gate           *Gate         // what plugins have said of the call that is about to begin; nil = nothing yet
	Gates          int           // how many calls about to begin were settled
	Trouble        Trouble       // what failures took
	Open           *OpenFailure  // the failure about which nothing has been done yet
	Suggestion     *Suggestion   // the open suggestion, or the last one; see SuggestionOpen
	Wait           *Waiting      // a live wait
	PausedFor      string        // why it waits for its store, or last did
	FailedAttempts int
	Granted        int            // extra attempts that people's answers added, in all
	Crashes        int            // interruptions in a row without a finished step; see HandOver
	ToolFailures   map[string]int // by tool, calls that failed
	IdleExpiries   map[string]int // by model, idle timers expired in a row without a finished step
	Spent          Budget
	Usage          llm.Usage
	Wasted         llm.Usage               // the part of it that failed attempts used
	Saved          llm.Usage               // what continuing a partial text saved
	Repaired       map[string][]llm.Repair // by model: the changes in the last request to it
	LastStep       string                  // what finished last: a tool's name, or "answer"; "" if nothing has
	LastStepTook   failure.Millis
	LastStepAt     time.Time     // when the step's clock started; see rearmStep
	BeyondDay      bool          // a person let it exceed the day's budget
	Parked         time.Duration // time that max_turn does not count
	Lost           bool          // no owner has the request in memory any more; see Keeping
	End            *Ended

	expired      failure.Timer // step, max_turn or run, expired but not yet written as Failed
	cancelled    bool
	offer        suggestionState // the state of r.Suggestion
	acceptedID   string          // the id of the suggestion or wait that was answered last, except with Stop
	truncated    bool
	again        bool      // the answer that was cut has been asked for once more
	byEngine     bool      // an engine gave the last answer
	cutTokens    int64     // output tokens of the last answer
	contextBytes int       // about how many bytes the transcript takes in a request
	kept         llm.Usage // the part of Usage that answered attempts used
	unsure       *ToolRun  // a tool call of unknown outcome about which nobody has been asked
	cooling      *Cooldown // the cooldown of its model, before the first call
	stepDoubled  bool      // a person chose to wait longer for this step
	lastSeen     time.Time // when people last saw something
	reserved     Budget
	parkedFrom   time.Time
	whole        bool // see Whole
}

// SuggestionOpen reports whether r's suggestion is open as far as its events say. Its time may be
// over before an event says so: see OpenSuggestion.
func (r *Run) SuggestionOpen() bool {
	return r.offer == suggestionOpen && !r.cancelled
}

// OpenSuggestion is the suggestion that a person may answer at now; nil if there is none.
func (r *Run) OpenSuggestion(now time.Time) *Suggestion {
	if !r.SuggestionOpen() || !now.Before(r.Suggestion.ExpiresAt) {
		return nil
	}
	return r.Suggestion
}

// Settled reports whether nothing more happens to r without a person: it has ended, or its
// suggestion is open.
func (r *Run) Settled() bool { return r.End != nil || r.SuggestionOpen() }

// Truncated reports whether the answer was cut at the output limit.
func (r *Run) Truncated() bool {
	return r.truncated && (r.Attempt == nil || len(r.Attempt.Text) == 0)
}

// Answer is the text of the last answer, or the partial text of the attempt that failed last.
func (r *Run) Answer() string {
	if r.Attempt != nil && r.Attempt.Text != "" {
		return r.Attempt.Text
	}
	if n := len(r.Messages); n > r.Carried && r.Messages[n-1].Role == llm.RoleAssistant {
		return r.Messages[n-1].Text()
	}
	return ""
}

// Fold makes a run out of its events, the first one included. It fails at the first event that
// Apply refuses.
func Fold(events []Event) (*Run, error) {
	r := &Run{}
	for _, e := range events {
		if err := r.Apply(e); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Clone is a copy of r, to be read while r goes on. What Apply changes in place is copied; what it
// only appends to or replaces is shared.
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
	if r.Gate != nil {
		gate := *r.Gate
		c.Gate = &gate
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
	c.Trouble.Failed = slices.Clip(r.Trouble.Failed) // both may fail, each in its own way
	return &c
}
