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
	// Text is one plain line of at most MaxText bytes for people, or "" if the event does not
	// concern them.
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

// ToolDecl is a tool that the run may use, as it was declared.
type ToolDecl struct {
	llm.Tool
	Safety  Safety         `json:"safety,omitempty"`
	Timeout failure.Millis `json:"timeoutMs,omitempty"` // 0 = the policy's
	By      string         `json:"by,omitempty"`        // ByCaller, or empty for the runner
	// Approval says that a person has to approve each call before it begins.
	Approval bool `json:"approval,omitempty"`
}

// Safety says whether a tool call may be repeated.
type Safety string

// The declarations of a tool. An undeclared tool is SafetyUnsafe, to be careful.
const (
	SafetyUnsafe     Safety = ""           // never repeated
	SafetyIdempotent Safety = "idempotent" // two calls with the same key have the effect of one
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
	Form      *Form         `json:"form,omitempty"` // nil = any answer
	Policy    Policy        `json:"policy"`
	Session   string        `json:"session,omitempty"`
	Continues *Head         `json:"continues,omitempty"` // the run before it in its session, up to its end
	// Fingerprint is equal in two requests to begin the same run, if the client chose the run's id.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Labels are what runs can be listed by.
	Labels Labels `json:"labels,omitempty"`
	// Needs are labels of a machine: only a process on a machine with all of them drives the run.
	Needs Labels `json:"needs,omitempty"`
	// SessionKey and AgentID are the caller's own names for its conversation and its agent;
	// plugins are told them.
	SessionKey string `json:"sessionKey,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
	// WaitsUntil is the caller's deadline, zero for none: no model call is kept open beyond it.
	WaitsUntil time.Time `json:"waitsUntil,omitzero"`
	// Cooling says that Model, a default that nobody named, is cooling down, and that another model
	// may be asked instead. See CauseCooling.
	Cooling *Cooldown `json:"cooling,omitempty"`
	// Stays says why Model is asked although another model was named.
	Stays *Stay `json:"stays,omitempty"`
	// Asked stands for System, Input and Tools if their contents are not kept.
	Asked *Digest `json:"asked,omitempty"`
}

// Stay is a conversation that moved to another model when one failed, and has not moved back yet.
type Stay struct {
	Left  string    `json:"left"`
	Until time.Time `json:"until"` // at the latest, and only while Left is cooling down
}

// Claimed says who appends to the run from now on. Calls that an older epoch had in the air are
// over, and their outcomes are unknown.
type Claimed struct {
	Owner string `json:"owner"`
	Epoch uint64 `json:"epoch"`
	// Holds says that the request, if its contents are not kept, is in this owner's memory.
	Holds bool `json:"holds,omitempty"`
}

// Began is the intent of a model call, durable before the call starts.
type Began struct {
	Attempt   uint64 `json:"attempt"` // its id within the run: 1, 2, 3, …
	Round     int    `json:"round"`   // from 1
	Try       int    `json:"try"`     // within one model call, from 0
	Model     string `json:"model"`
	Withdraws uint64 `json:"withdraws,omitempty"` // the attempt whose partial text is void from now on
	Continues uint64 `json:"continues,omitempty"` // the attempt whose partial text is the beginning of this one's text
	Retry     bool   `json:"retry,omitempty"`     // it asks the same model again, by a decision or a person's answer
	Again     bool   `json:"again,omitempty"`     // the previous answer was cut at the output limit; this one has a larger limit
	Adjust    Adjust `json:"adjust,omitzero"`
	Reserve   Budget `json:"reserve,omitzero"` // counted until the true figures are known
	Tell      string `json:"tell,omitempty"`   // an instruction to the model for this attempt alone, besides the conversation
}

// Answered ends a model call with an answer.
type Answered struct {
	Attempt    uint64         `json:"attempt"`
	Message    llm.Message    `json:"message"`
	Usage      llm.Usage      `json:"usage"`
	Stop       llm.StopReason `json:"stop"`
	RequestID  string         `json:"requestId,omitempty"`
	FirstEvent failure.Millis `json:"firstEventMs,omitempty"` // from sending the request to the first event of the response
	By         string         `json:"by,omitempty"`           // ByEngine if an engine carries out the message's tool calls itself; else empty
	Said       *Digest        `json:"said,omitempty"`         // stands for the message's parts if they are not kept
	// CacheLost is how many input tokens were in the prompt cache of the previous model. This model
	// read them without a cache.
	CacheLost int64 `json:"cacheLost,omitempty"`
}

// ByEngine marks what an llm.Engine does by itself.
const ByEngine = "engine"

// Failed ends an attempt with a failure, or says that the run's time or budget is used up. It holds
// the facts that a decision may depend on, as they were then.
type Failed struct {
	Attempt      uint64          `json:"attempt,omitempty"` // 0 = no model call was in the air
	Text         string          `json:"text,omitempty"`    // the attempt's text; after a crash, as much of it as is known
	CallID       string          `json:"callId,omitempty"`  // the tool call that failed
	Failure      failure.Failure `json:"failure"`
	Cause        Cause           `json:"cause,omitempty"`
	Usage        llm.Usage       `json:"usage,omitzero"`
	Alternatives []Alternative   `json:"alternatives,omitempty"` // allowed, with credentials, not cooling, in order
	Cooling      []Cooldown      `json:"cooling,omitempty"`
	Unfit        []Unfit         `json:"unfit,omitempty"`   // allowed and with credentials, but unable to continue this conversation
	Offline      bool            `json:"offline,omitempty"` // this machine had no connection
	Tell         string          `json:"tell,omitempty"`    // an instruction to the model for the next attempt, to avoid the same failure
	Shown        Shown           `json:"shown,omitempty"`   // how much of the attempt's text the caller has seen
	// Continuable says that the attempt failed in the middle of plain text, and that another
	// attempt may continue it; see llm/splice.
	Continuable bool `json:"continuable,omitempty"`
	// Told is what else the caller reports, if it makes the calls itself.
	Told Told    `json:"told,omitzero"`
	Said *Digest `json:"said,omitempty"` // stands for the attempt's text if that is not kept
	// Headers are for people alone; no decision depends on them.
	Headers *llm.Headers `json:"headers,omitempty"`
}

// Cooldown is a model that is left out of the alternatives for a while.
type Cooldown struct {
	Model string       `json:"model"`
	Until time.Time    `json:"until"`
	Kind  failure.Kind `json:"kind"`
	// Beside says that another model of the same entry had the failure, not this one.
	Beside bool `json:"beside,omitempty"`
}

// Repaired says what is changed in a request so that a model accepts the transcript. It is written
// once for each model and set of changes; the transcript itself stays as it was.
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

// The values of WaitFor.
const (
	WaitTime    WaitFor = "time"
	WaitReset   WaitFor = "reset"
	WaitNetwork WaitFor = "network"
	WaitStore   WaitFor = "store"
	WaitCaller  WaitFor = "caller" // the caller that asked for advice, until it goes on or reports the outcome
	WaitTool    WaitFor = "tool"   // the result of a tool call that the run's caller makes
)

// Waiting begins a deliberate wait; a person may cut it short by its id.
type Waiting struct {
	ID      string    `json:"id"`
	For     WaitFor   `json:"for"`
	Until   time.Time `json:"until,omitzero"`  // zero = until the network is back
	Model   string    `json:"model"`           // the model that is asked next
	Retry   int       `json:"retry,omitempty"` // n of "attempt n/m"; 0 if what follows does not count as a retry
	Of      int       `json:"of,omitempty"`    // m
	Actions []Button  `json:"actions,omitempty"`
}

// Due says that a timer has expired: time passes only by these events.
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
	By         string `json:"by,omitempty"` // ByEngine, ByCaller, or empty for the runner
}

// Outcome says how a tool call ended.
type Outcome string

// The values of Outcome.
const (
	OutcomeOK      Outcome = "ok"
	OutcomeError   Outcome = "error"
	OutcomeUnknown Outcome = "unknown" // it may or may not have taken effect
)

// ToolReturned is the durable result of a tool call, which is never run again.
type ToolReturned struct {
	CallID  string         `json:"callId"`
	Result  llm.ToolResult `json:"result"`
	Outcome Outcome        `json:"outcome"`
	Elapsed failure.Millis `json:"elapsedMs,omitempty"`
	Limit   failure.Millis `json:"limitMs,omitempty"` // the limit of its tool timer, if that ended the call
	Round   int            `json:"round,omitempty"`   // the round of the call, if its caller gave the result; else 0
	NotRun  bool           `json:"notRun,omitempty"`  // the tool itself was not called: there is none, or the arguments do not match
}

// Compacting is the intent of a summary, durable before its model is asked.
type Compacting struct {
	Failure uint64 `json:"failure"` // seq of the Failed event that made it necessary
	Model   string `json:"model"`   // the model that writes it
	Keep    int    `json:"keep"`    // index of the first message kept as it is
	Reserve Budget `json:"reserve,omitzero"`
}

// Compacted replaces the messages before Keep with a shorter form, or says why nothing could be
// shortened. The log keeps the originals.
type Compacted struct {
	Messages []llm.Message `json:"messages,omitempty"` // the new beginning
	Keep     int           `json:"keep"`               // index of the first message kept as it is, counting carried messages
	Stage    string        `json:"stage,omitempty"`    // CompactResults or CompactSummary
	Model    string        `json:"model,omitempty"`    // the model that wrote the summary
	Usage    llm.Usage     `json:"usage,omitzero"`
	Reason   string        `json:"reason,omitempty"` // why nothing was shortened; "" if something was
}

// Noted tells people something. It changes nothing in the run, unless Topic is TopicText.
type Noted struct {
	Topic   string         `json:"topic"`               // TopicProgress, TopicText, TopicToolSays, TopicToolLate, TopicTooLate
	What    string         `json:"what,omitempty"`      // a tool's name, a model
	CallID  string         `json:"callId,omitempty"`    // the tool call it is about
	Attempt uint64         `json:"attempt,omitempty"`   // the model call it is about
	Since   time.Time      `json:"since,omitzero"`      // when the call began; for TopicText, when it last sent something
	Elapsed failure.Millis `json:"elapsedMs,omitempty"` // how long the call had been going on
	Detail  string         `json:"detail,omitempty"`    // what a tool reported, on one line of at most MaxNote bytes
}

// MaxNote is the most that Noted.Detail holds, in bytes.
const MaxNote = 200

// Suggested offers a decision to a person.
type Suggested struct {
	CallID     string     `json:"callId,omitempty"` // the tool call that a person is to approve
	Suggestion Suggestion `json:"suggestion"`
}

// Accepted is a person's answer to a suggestion, to a live wait, or to a model call that the answer
// cuts short.
type Accepted struct {
	Suggestion string `json:"suggestion"`
	Action     string `json:"action"`          // the action's id
	Model      string `json:"model,omitempty"` // replaces the model of the action
}

// CancelRequested says that a person wants the run to end now. It holds the text of the attempt
// that this ends.
type CancelRequested struct {
	Attempt uint64 `json:"attempt,omitempty"` // 0 = no model call was in the air
	Text    string `json:"text,omitempty"`
}

// Paused says that the run waits for its store or, with For, that it has waited that long and goes
// on: a store that takes no events cannot record its own failure.
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

// Slept says that the computer slept for that long while a process was driving the run.
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

// Bodies lists one empty value of each type of event.
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
