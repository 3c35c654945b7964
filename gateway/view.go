package gateway

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Run is the state of a run.
type Run struct {
	ID          string             `json:"id"`
	Session     string             `json:"session,omitempty"`
	Labels      recovery.Labels    `json:"labels,omitempty"`
	Needs       recovery.Labels    `json:"needs,omitempty" doc:"Labels that the machine has which drives it."`
	Status      recovery.Status    `json:"status" enum:"running,waiting,completed,failed,cancelled"`
	WaitingFor  recovery.WaitFor   `json:"waitingFor,omitempty" enum:"time,reset,network,store,caller,tool"`
	StopReason  string             `json:"stopReason,omitempty" doc:"completed, failed, cancelled, timeout, step_timeout, max_turn_time or interrupted; of a run that has ended."`
	Chosen      string             `json:"chosenModel" doc:"The model that the run was started with."`
	Model       string             `json:"model" doc:"The model that is asked, or was asked last."`
	Models      []string           `json:"models" doc:"The models that it may be switched to."`
	AutoRecover bool               `json:"autoRecover"`
	Answer      Answered           `json:"answer"`
	Messages    []llm.Message      `json:"messages" doc:"The conversation of this run, what the user said first."`
	Attempt     *Attempt           `json:"attempt,omitempty" doc:"The model call that is going on."`
	Tools       []Call             `json:"tools,omitempty" doc:"The tool calls of the last answer."`
	Wait        *recovery.Waiting  `json:"wait,omitempty" doc:"A wait that a person may cut short by its actions."`
	Error       *failure.Failure   `json:"error,omitempty" doc:"What went wrong last, of a run that failed or is being recovered."`
	Usage       Usage              `json:"usage"`
	StartedAt   time.Time          `json:"startedAt"`
	UpdatedAt   time.Time          `json:"updatedAt"`
	Seq         uint64             `json:"seq" doc:"Of the last event: follow from here."`
	ServerNow   time.Time          `json:"serverNow" doc:"Count down to times of this document from this one."`
	Situation   recovery.Situation `json:"situation" doc:"What a person should see of it and can do. Of its stages the last one counts whose from is not in the future; once text of the attempt inAir has come no line is drawn, and once its reasoning has, no stage of state slow counts. {elapsed} in a text is the time since since, {countdown} that until until, {clock} is until as a time of day, and {leave} a sentence of the client's own by which a person may leave."`
	Meta        Meta               `json:"meta"`

	of *recovery.Run // kept alive while this is written, so that others who ask get the same: see sharedFolds
}

// Meta is what is said about a run besides its content.
type Meta struct {
	RecoverySuggestion *recovery.Suggestion `json:"recoverySuggestion,omitempty" doc:"What a person may choose from, until its expiresAt."`
}

// Answered is the model's last answer.
type Answered struct {
	Text      string `json:"text"`
	Model     string `json:"model,omitempty" doc:"That wrote it."`
	Partial   bool   `json:"partial,omitempty" doc:"The attempt that wrote it failed or goes on."`
	Truncated bool   `json:"truncated,omitempty" doc:"It was cut at the output limit."`
}

// Attempt is a model call in progress.
type Attempt struct {
	ID      uint64    `json:"id"`
	Model   string    `json:"model"`
	Retry   int       `json:"retry" doc:"n of attempt n/m; 0 = the first."`
	Of      int       `json:"of"`
	BeganAt time.Time `json:"beganAt"`

	CutShort *CutShort `json:"cutShort,omitempty" doc:"What a person may do who does not wait any longer for it: offer it once the call is slow."`
}

// CutShort is how a model call may be cut short.
type CutShort struct {
	ID      string            `json:"id" doc:"To be named in the answer, as a suggestion is."`
	Actions []recovery.Button `json:"actions"`
}

// Call is a tool call of the last answer.
type Call struct {
	ID      string                 `json:"id"`
	Name    string                 `json:"name"`
	State   recovery.ToolCallState `json:"state" enum:"wanted,in_air,orphaned,returned,unknown" doc:"orphaned: it ran when the program stopped. unknown: it is over, and may or may not have taken effect."`
	By      string                 `json:"by,omitempty" enum:"engine,caller" doc:"Who carries it out; the server where it is left out."`
	BeganAt time.Time              `json:"beganAt,omitzero"`
}

// Usage is what a run used.
type Usage struct {
	Tokens       int64 `json:"tokens"`
	Microdollars int64 `json:"microdollars,omitempty"`
	Wasted       int64 `json:"wastedTokens,omitempty" doc:"Of them, by attempts that failed."`
	Saved        int64 `json:"savedTokens,omitempty" doc:"That going on after a failure did not use again."`
}

// view makes the document of a run.
func view(r *recovery.Run, now time.Time) Run {
	v := Run{
		of: r, ID: r.ID, Session: r.Session, Labels: r.Labels, Needs: r.Needs, Status: r.Status, Chosen: r.Chosen, Model: r.Model, Models: r.Policy.Models,
		AutoRecover: r.Policy.AutoRecover, Messages: r.Messages[r.Carried:], StartedAt: r.StartedAt, UpdatedAt: r.Last, Seq: r.Seq, ServerNow: now.UTC(),
		Answer: answerOf(r), Situation: r.Situation(),
		Usage: Usage{
			Tokens: r.Usage.Total(), Microdollars: r.Spent.Microdollars, Wasted: r.Wasted.Total(), Saved: r.Saved.Total(),
		},
	}
	if r.End != nil {
		v.StopReason = r.End.StopReason
	}
	if r.Wait != nil {
		v.Wait, v.WaitingFor = r.Wait, r.Wait.For
	}
	if f := r.Failure(); f != nil {
		broke := *f
		v.Error = &broke
	}
	if a := r.Attempt; a != nil && a.InAir() {
		v.Attempt = &Attempt{ID: a.ID, Model: a.Model, Retry: r.Call.Retries, Of: r.Policy.MaxRetries, BeganAt: a.BeganAt}
		if id, actions := r.CutShort(); id != "" {
			v.Attempt.CutShort = &CutShort{ID: id, Actions: actions}
		}
	}
	for _, t := range r.Pending {
		v.Tools = append(v.Tools, Call{
			ID: t.Call.ID, Name: t.Call.Name, State: t.State, By: t.By, BeganAt: t.BeganAt,
		})
	}
	v.Meta.RecoverySuggestion = r.OpenSuggestion(now)
	return v
}

func answerOf(r *recovery.Run) Answered {
	a := Answered{Text: r.Answer(), Truncated: r.Truncated()}
	if at := r.Attempt; at != nil && at.Text != "" {
		a.Model, a.Partial = at.Model, true
		return a
	}
	if n := len(r.Messages); n > 0 {
		a.Model = r.Messages[n-1].Model
	}
	return a
}
