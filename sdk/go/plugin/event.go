package plugin

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	"github.com/mulligan-run/mulligan/llm"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// Event is a failure and what a decision may depend on. It contains no secrets and,
// apart from Transcript, no prompts and no tools' arguments or results.
type Event struct {
	Run, Session string
	Kind         failure.Kind    // what went wrong; new kinds may appear
	Failure      failure.Failure // all that is known about it
	Model        string          // the one that failed, provider/model
	Alternatives []string        // what Switch may name, in order of preference
	RetryAfter   time.Duration   // how long the provider asks to wait; 0 = not given

	Attempt     int // within one model call, from 0
	Retries     int // of this model call so far
	MaxRetries  int // allowed by the policy
	AutoRecover bool

	Elapsed           time.Duration   // since the run began, without long deliberate waits
	Remaining         recovery.Budget // 0 = unlimited, -1 = used up
	RemainingAttempts int
	RemainingTime     time.Duration // 0 = unlimited, negative = used up
	Tried             []recovery.Tried
	Models            []recovery.Alternative // Alternatives, with what is known about them

	ReplaySafety string   // safe, unsafe or unknown
	UnsafeTools  []string // the tools that make it so
	PartialShown bool     // people saw text of the failed attempt
	IdleBreaker  bool     // too many idle expiries in a row: nothing is retried automatically
	IdleExpiries int

	SessionKey  string // the caller's name for its conversation; "" = not given
	AgentID     string // the caller's name for its agent; "" = not given
	Aborted     bool   // the attempt was ended on our side: by a timer, the end of its process, or a person who did not wait
	TimedOut    bool   // time ran out: a timer of ours, or the provider's own
	PromptError string // why the prompt could not become a request; "" = it could

	Labels      map[string]string
	Spent       recovery.Budget        // by the run so far
	InputTokens int64                  // of the request, estimated
	Tools       []string               // that the model may use
	Images      bool                   // the conversation contains pictures
	Schema      bool                   // the answer must match a JSON schema
	About       recovery.Alternative   // the model that failed, with what is known about it
	Cooling     []recovery.Alternative // could be asked, but are not alternatives because they cool down
	FailedKinds []failure.Kind         // the newest 64 failures of the run, including this one
	RecentCalls []recovery.RecentCall  // how the last calls to the model's provider entry ended, of all runs, newest last

	Time   time.Time // when the attempt failed, in UTC; zero = not given
	DryRun bool      // the answer has no effect (a replay, a test): do nothing with effects outside the plugin
	// Pressed is the kind of the plugin's own button that a person pressed; the answer to this
	// event is carried out. "" = it is asked about the failure itself.
	Pressed string

	// Transcript is the newest part of what was said in the run so far; empty unless a
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
