package recovery

import (
	"reflect"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// Event is one thing that happened to a run: the only thing that is stored, sent
// and folded.
type Event struct {
	Run  string
	Seq  uint64 // 1, 2, 3, … without a gap
	Time time.Time
	// Text is one plain line of at most MaxText bytes for people, or "" where the
	// event is none of their business.
	Text string
	// Inbox is the position of the command that this event answers, 0 for none.
	Inbox uint64
	Body  Body
}

// MaxText is the most that Event.Text holds, in bytes.
const MaxText = 500

// Body is what an event says; one of the types of this file.
//
//sumtype:decl
type Body interface{ eventType() string }

// Type is the event's name in JSON: started, began, failed, …
func (e Event) Type() string {
	if e.Body == nil {
		return ""
	}
	return e.Body.eventType()
}

// Head points into another run: the conversation up to and including seq. See Run.Carry.
type Head struct {
	Run string `json:"run"`
	Seq uint64 `json:"seq"`
}

// ToolDecl is a tool that the run may use, as its owner declared it.
type ToolDecl struct {
	llm.Tool
	Safety  Safety         `json:"safety,omitempty"`
	Timeout failure.Millis `json:"timeoutMs,omitempty"` // 0 = the policy's
}

// Safety says whether a tool call may be repeated.
type Safety string

// The declarations of a tool. Nothing declared is the careful SafetyUnsafe.
const (
	SafetyUnsafe     Safety = ""           // never repeated
	SafetyIdempotent Safety = "idempotent" // the same key twice is once
	SafetyReadOnly   Safety = "read_only"  // changes nothing
)

// Repeatable reports whether a call whose outcome is unknown may be run again.
func (s Safety) Repeatable() bool { return s == SafetyIdempotent || s == SafetyReadOnly }

// Started opens a run and pins its policy.
type Started struct {
	Model     string        `json:"model"`
	System    string        `json:"system,omitempty"`
	Input     []llm.Message `json:"input"`
	Tools     []ToolDecl    `json:"tools,omitempty"`
	Form      *Form         `json:"form,omitempty"` // nil = as the models like
	Policy    Policy        `json:"policy"`
	Session   string        `json:"session,omitempty"`
	Continues *Head         `json:"continues,omitempty"` // the end of its session's run before it
	// Fingerprint is what two requests to begin this run have in common, where its id is
	// the requester's own.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Labels are what runs can be listed by.
	Labels Labels `json:"labels,omitempty"`
	// What the caller itself calls its conversation and its agent: plugins are told.
	SessionKey string `json:"sessionKey,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
	// WaitsUntil is the deadline of whoever asks, if there is one: no call is kept at longer.
	WaitsUntil time.Time `json:"waitsUntil,omitzero"`
	// Cooling says that Model, a default that nobody asked for by name, cools down, and that
	// another model may be asked in its place. See CauseCooling.
	Cooling *Cooldown `json:"cooling,omitempty"`
	// Stays says why a call is answered by Model, where another one was asked for.
	Stays *Stay `json:"stays,omitempty"`
	// Asked stands for System, Input and Tools where they are not kept.
	Asked *Digest `json:"asked,omitempty"`
}

// Stay is a conversation that went to another model when one failed, and is not back yet.
type Stay struct {
	Left  string    `json:"left"`
	Until time.Time `json:"until"` // and as long as Left cools down
}

// Claimed says who appends to the run from now on. Effects of an older epoch that
// were in the air are over, their outcome unknown.
type Claimed struct {
	Owner string `json:"owner"`
	Epoch uint64 `json:"epoch"`
	// Holds: what was asked, where it is not kept, is in this owner's memory.
	Holds bool `json:"holds,omitempty"`
}

// Began is the intent of a model call, durable before the call starts.
type Began struct {
	Attempt   uint64 `json:"attempt"` // its id within the run: 1, 2, 3, …
	Round     int    `json:"round"`   // from 1
	Try       int    `json:"try"`     // within one model call, from 0
	Model     string `json:"model"`
	Withdraws uint64 `json:"withdraws,omitempty"` // the attempt whose partial text is void now
	Continues uint64 `json:"continues,omitempty"` // the attempt whose partial text it goes on from, as the beginning of its own
	Retry     bool   `json:"retry,omitempty"`     // of the same model, by a decision or a person
	Again     bool   `json:"again,omitempty"`     // after an answer that was cut at the output limit, with a larger one
	Adjust    Adjust `json:"adjust,omitzero"`
	Reserve   Budget `json:"reserve,omitzero"` // counted until the true figures are known
	Tell      string `json:"tell,omitempty"`   // what the model is told beside the conversation, in this attempt alone
}

// Answered ends a model call well.
type Answered struct {
	Attempt    uint64         `json:"attempt"`
	Message    llm.Message    `json:"message"`
	Usage      llm.Usage      `json:"usage"`
	Stop       llm.StopReason `json:"stop"`
	RequestID  string         `json:"requestId,omitempty"`
	FirstEvent failure.Millis `json:"firstEventMs,omitempty"` // from sending to the first event
	By         string         `json:"by,omitempty"`           // ByEngine, which carries the message's calls out itself; else empty
	Said       *Digest        `json:"said,omitempty"`         // stands for the message's parts where they are not kept
	// CacheLost is how many tokens of the input the prompt cache of the model had that answered
	// the conversation before: with another one they were read anew.
	CacheLost int64 `json:"cacheLost,omitempty"`
}

// ByEngine marks what an llm.Engine does by itself.
const ByEngine = "engine"

// Failed ends an attempt, or the run's time or budget, badly; with the facts that
// a decision may depend on, as they were.
type Failed struct {
	Attempt      uint64          `json:"attempt,omitempty"` // 0 = no model call was in the air
	Text         string          `json:"text,omitempty"`    // what the attempt had said; after a crash, as far as it is known
	CallID       string          `json:"callId,omitempty"`  // the tool call that failed the run
	Failure      failure.Failure `json:"failure"`
	Cause        Cause           `json:"cause,omitempty"`
	Usage        llm.Usage       `json:"usage,omitzero"`
	Alternatives []Alternative   `json:"alternatives,omitempty"` // allowed, with credentials, not cooling, in order
	Cooling      []Cooldown      `json:"cooling,omitempty"`
	Unfit        []Unfit         `json:"unfit,omitempty"`   // allowed, with credentials, and no alternatives to this conversation
	Offline      bool            `json:"offline,omitempty"` // this machine had no connection
	Tell         string          `json:"tell,omitempty"`    // what the next attempt tells the model, for it to do better
	Shown        Shown           `json:"shown,omitempty"`   // of the attempt's answer, to whoever called
	// Continuable: plain text was running, and another attempt may go on from it; see llm/splice.
	Continuable bool `json:"continuable,omitempty"`
	// Told is what the caller says besides, where the calls are its own.
	Told Told    `json:"told,omitzero"`
	Said *Digest `json:"said,omitempty"` // stands for the attempt's text where it is not kept
}

// Cooldown is a model that is left out of the alternatives for a while.
type Cooldown struct {
	Model string       `json:"model"`
	Until time.Time    `json:"until"`
	Kind  failure.Kind `json:"kind"`
	// Beside: the model itself has not failed so; another one of its entry has.
	Beside bool `json:"beside,omitempty"`
}

// Repaired says what was changed in the transcript so that a model accepts it. It is
// written once per model and set of changes; the transcript itself stays as it was.
type Repaired struct {
	Attempt uint64       `json:"attempt"`
	Model   string       `json:"model"`
	Repairs []llm.Repair `json:"repairs"`
}

// Voted is what one plugin said.
type Voted struct {
	Occasion Occasion `json:"occasion"`
	Vote     Vote     `json:"vote"`
}

// Decided is what will be done.
type Decided struct {
	Occasion Occasion `json:"occasion"`
	Decision Decision `json:"decision"`
}

// WaitFor says what a waiting run waits for.
type WaitFor string

// What a run may wait for.
const (
	WaitTime    WaitFor = "time"
	WaitReset   WaitFor = "reset"
	WaitNetwork WaitFor = "network"
	WaitStore   WaitFor = "store"
	WaitCaller  WaitFor = "caller" // whoever asked for advice goes on, or tells how that went
)

// Waiting begins a deliberate wait; a person may cut it short by its id.
type Waiting struct {
	ID      string    `json:"id"`
	For     WaitFor   `json:"for"`
	Until   time.Time `json:"until,omitzero"`  // zero = until the network is back
	Model   string    `json:"model"`           // that will be tried
	Retry   int       `json:"retry,omitempty"` // n of "attempt n/m"; 0 where no retry that is counted follows
	Of      int       `json:"of,omitempty"`    // m
	Actions []Button  `json:"actions,omitempty"`
}

// Due is how time passes: a timer fired.
type Due struct {
	Timer   failure.Timer `json:"timer"`
	Failure uint64        `json:"failure,omitempty"` // for TimerWait and TimerExpiry: the failure it belongs to
}

// ToolBegan is the intent of a tool call, durable before the tool runs.
type ToolBegan struct {
	CallID     string `json:"callId"`
	Name       string `json:"name"`
	Try        int    `json:"try"` // from 0
	Key        string `json:"key"` // the idempotency key, the same for every try
	ArgsSHA256 string `json:"argsSha256"`
	By         string `json:"by,omitempty"` // as of the answer that called
}

// Outcome says how a tool call ended.
type Outcome string

// The outcomes.
const (
	OutcomeOK      Outcome = "ok"
	OutcomeError   Outcome = "error"
	OutcomeUnknown Outcome = "unknown" // it may or may not have happened
)

// ToolReturned is the durable result of a tool call; it is never run again.
type ToolReturned struct {
	CallID  string         `json:"callId"`
	Result  llm.ToolResult `json:"result"`
	Outcome Outcome        `json:"outcome"`
	Elapsed failure.Millis `json:"elapsedMs,omitempty"`
	Limit   failure.Millis `json:"limitMs,omitempty"` // it was stopped after that: its tool timer had expired
}

// Compacting is the intent of a summary, durable before its model is asked.
type Compacting struct {
	Failure uint64 `json:"failure"` // seq of the Failed event that it is for
	Model   string `json:"model"`   // that writes it
	Keep    int    `json:"keep"`    // index of the first message kept as it is
	Reserve Budget `json:"reserve,omitzero"`
}

// Compacted replaces the messages before Keep by a shorter form, or says why it does not.
// The original stays in the log.
type Compacted struct {
	Messages []llm.Message `json:"messages,omitempty"` // the new beginning
	Keep     int           `json:"keep"`               // index of the first message kept as it is, those that were carried included
	Stage    string        `json:"stage,omitempty"`    // CompactResults or CompactSummary
	Model    string        `json:"model,omitempty"`    // that wrote the summary
	Usage    llm.Usage     `json:"usage,omitzero"`
	Reason   string        `json:"reason,omitempty"` // why nothing was shortened; "" where something was
}

// Noted tells people something that changes nothing.
type Noted struct {
	Topic   string         `json:"topic"`               // TopicProgress, TopicText, TopicToolSays, TopicToolLate, TopicTooLate
	What    string         `json:"what,omitempty"`      // a tool's name, a model
	CallID  string         `json:"callId,omitempty"`    // the tool call it is about
	Attempt uint64         `json:"attempt,omitempty"`   // the model call it is about
	Since   time.Time      `json:"since,omitzero"`      // when that began; of TopicText, when it was heard last
	Elapsed failure.Millis `json:"elapsedMs,omitempty"` // how long that was ago
	Detail  string         `json:"detail,omitempty"`    // a tool's own words, on one line of at most MaxNote bytes
}

// MaxNote is the most that Noted.Detail holds, in bytes.
const MaxNote = 200

// Suggested offers a decision to a person.
type Suggested struct {
	Suggestion Suggestion `json:"suggestion"`
}

// Accepted is a person's answer to a suggestion, to a live wait, or to a model call that is cut short.
type Accepted struct {
	Suggestion string `json:"suggestion"`
	Action     string `json:"action"`          // the action's id
	Model      string `json:"model,omitempty"` // overrides the action's
}

// CancelRequested is a person's wish that the run end now. Whoever writes it down says what
// the attempt that it ends had said.
type CancelRequested struct {
	Attempt uint64 `json:"attempt,omitempty"` // 0 = no model call was in the air
	Text    string `json:"text,omitempty"`
}

// Paused says that the run waits for its store; or, with For, that it waited for so long
// and goes on: while a store does not write, nothing can be said in it.
type Paused struct {
	Reason string         `json:"reason"`
	For    failure.Millis `json:"forMs,omitempty"`
}

// Ended closes the run for good.
type Ended struct {
	Status     Status `json:"status"`              // completed, failed or cancelled
	StopReason string `json:"stopReason"`          // completed, failed, cancelled, timeout, step_timeout, max_turn_time, interrupted
	Truncated  bool   `json:"truncated,omitempty"` // the answer was cut at the output limit
}

// Slept says that the computer slept while the run was driven: nobody was there for
// that long.
type Slept struct {
	For failure.Millis `json:"forMs"`
}

func (Started) eventType() string         { return "started" }
func (Claimed) eventType() string         { return "claimed" }
func (Began) eventType() string           { return "began" }
func (Answered) eventType() string        { return "answered" }
func (Failed) eventType() string          { return "failed" }
func (Repaired) eventType() string        { return "repaired" }
func (Voted) eventType() string           { return "voted" }
func (Decided) eventType() string         { return "decided" }
func (Waiting) eventType() string         { return "waiting" }
func (Due) eventType() string             { return "due" }
func (ToolBegan) eventType() string       { return "tool_began" }
func (ToolReturned) eventType() string    { return "tool_returned" }
func (Compacted) eventType() string       { return "compacted" }
func (Compacting) eventType() string      { return "compacting" }
func (Noted) eventType() string           { return "noted" }
func (Suggested) eventType() string       { return "suggested" }
func (Accepted) eventType() string        { return "accepted" }
func (CancelRequested) eventType() string { return "cancel_requested" }
func (Paused) eventType() string          { return "paused" }
func (Ended) eventType() string           { return "ended" }
func (Slept) eventType() string           { return "slept" }
func (u Unknown) eventType() string       { return u.Type }

// Bodies are what an event may say, one empty one of each type.
func Bodies() []Body {
	return []Body{
		Started{},
		Claimed{},
		Began{},
		Answered{},
		Failed{},
		Repaired{},
		Voted{},
		Decided{},
		Waiting{},
		Due{},
		ToolBegan{},
		ToolReturned{},
		Compacted{},
		Compacting{},
		Noted{},
		Suggested{},
		Accepted{},
		CancelRequested{},
		Paused{},
		Ended{},
		Slept{},
	}
}

// bodies maps the name of an event to its type.
var bodies = func() map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, b := range Bodies() {
		m[b.eventType()] = reflect.TypeOf(b)
	}
	return m
}()
