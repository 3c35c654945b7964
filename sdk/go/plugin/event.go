package plugin

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	"github.com/mulligan-run/mulligan/llm"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// Event is a failure and what a decision may depend on. It holds no secret and, apart
// from Transcript, no prompt and no tool's arguments or results.
type Event struct {
	Run, Session string
	Kind         failure.Kind    // what went wrong; new kinds may appear
	Failure      failure.Failure // all that is known about it
	Model        string          // that failed, provider/model
	Alternatives []string        // what Switch may name, in order of preference
	RetryAfter   time.Duration   // what the provider demands to wait; 0 = nothing demanded

	Attempt     int // within one model call, from 0
	Retries     int // of this model call so far
	MaxRetries  int // that the policy allows
	AutoRecover bool

	Elapsed           time.Duration   // since the run began, deliberate long waits left out
	Remaining         recovery.Budget // 0 = unlimited, -1 = used up
	RemainingAttempts int
	RemainingTime     time.Duration // 0 = unlimited, negative = used up
	Tried             []recovery.Tried
	Models            []recovery.Alternative // Alternatives with what is known about them

	ReplaySafety string   // safe, unsafe or unknown
	UnsafeTools  []string // the tools that make it so
	PartialShown bool     // text of the failed attempt was seen by people
	IdleBreaker  bool     // too many idle expiries in a row: nothing is retried by itself
	IdleExpiries int

	SessionKey  string // what the caller calls its conversation; "" = it did not say
	AgentID     string // what the caller calls its agent; "" = it did not say
	Aborted     bool   // the attempt was ended from our side: a timer, the end of its process, a person who did not wait
	TimedOut    bool   // time was over: that of a timer of ours, or the provider's own
	PromptError string // why the prompt could not become a request; "" = it could

	Labels      map[string]string
	Spent       recovery.Budget        // by the run so far
	InputTokens int64                  // of the request, about
	Tools       []string               // that the model may use
	Images      bool                   // there are pictures in the conversation
	Schema      bool                   // the answer has to keep to a JSON schema
	About       recovery.Alternative   // the model that failed, with what is known about it
	Cooling     []recovery.Alternative // could be asked, and are no alternatives because they cool down
	FailedKinds []failure.Kind         // what failed in the run so far, this failure included: the newest 64
	RecentCalls []recovery.RecentCall  // how the last calls of the model's entry ended, of all runs, the newest last

	Time   time.Time // when the attempt failed, in UTC; zero = the host did not say
	DryRun bool      // nothing comes of the answer (a replay, a test): do nothing that can be felt outside
	// Pressed is the kind of the plugin's own button that a person has pressed: what is answered
	// now is done. "" = it is asked about the failure itself.
	Pressed string

	// Transcript is what was said in the run so far, the newest of it; empty unless a
	// person granted it (transcript: messages in mulligan-plugin.yaml).
	Transcript []llm.Message
}

func newEvent(m *mulliganv1.RunErrorRequest) Event {
	e := protoconv.RunErrorFromProto(m)
	event := Event{
		Run: e.Run, Session: e.Session, Kind: e.Failure.Kind, Failure: e.Failure, Model: e.Model,
		RetryAfter: e.Failure.RetryAfter.Duration(), Attempt: e.Attempt, Retries: e.Retries, MaxRetries: e.MaxRetries,
		AutoRecover: e.AutoRecover, Elapsed: e.Elapsed.Duration(), Remaining: e.Remaining,
		RemainingAttempts: e.RemainingAttempts, RemainingTime: e.RemainingTime.Duration(), Tried: e.Tried,
		Models: e.Alternatives, ReplaySafety: e.ReplaySafety, UnsafeTools: e.UnsafeTools,
		PartialShown: e.PartialShown, IdleBreaker: e.IdleBreaker, IdleExpiries: e.IdleExpiries,
		Time: e.Time, DryRun: e.DryRun, Pressed: e.Pressed, Transcript: e.Transcript,
		SessionKey: e.SessionKey, AgentID: e.AgentID, Aborted: e.Aborted, TimedOut: e.TimedOut, PromptError: e.PromptError,
		Labels: e.Labels, Spent: e.Spent, InputTokens: e.InputTokens, Tools: e.Tools, Images: e.Images, Schema: e.Schema,
		About: e.About, Cooling: e.Cooling, FailedKinds: e.FailedKinds, RecentCalls: e.RecentCalls,
	}
	for _, a := range e.Alternatives {
		event.Alternatives = append(event.Alternatives, a.Model)
	}
	return event
}
