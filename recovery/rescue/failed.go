package rescue

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// SpanFailure is a failure, with everything that was known, said and decided about it.
type SpanFailure struct {
	Failure      failure.Failure        `json:"failure"`
	Confidence   int                    `json:"confidence,omitempty" doc:"0 to 100, of what its words alone say; 0: something else decided."`
	Evidence     []failure.Clue         `json:"evidence,omitempty" doc:"By which its kind is known."`
	Offline      bool                   `json:"offline,omitempty" doc:"This machine had no connection."`
	Alternatives []recovery.Alternative `json:"alternatives,omitempty" doc:"The models that it could be switched to."`
	Cooling      []recovery.Cooldown    `json:"cooling,omitempty"`
	Votes        []CastVote             `json:"votes,omitempty" doc:"What each plugin said, the losing ones too."`
	Decision     *recovery.Decision     `json:"decision,omitempty"`
	Decided      string                 `json:"decided,omitempty" doc:"The decision and its reason, in a sentence."`
}

// CastVote is what one plugin said, and whether it counted.
type CastVote struct {
	recovery.Vote
	Won     bool   `json:"won,omitempty"`
	Lost    string `json:"lost,omitempty" doc:"Why it did not count."`
	Forbids string `json:"forbids,omitempty" doc:"What it forbids, in words."`
}

func (b *Builder) hasFailed(e recovery.Event, body recovery.Failed) {
	f := &SpanFailure{Failure: body.Failure, Offline: body.Offline, Alternatives: body.Alternatives, Cooling: body.Cooling}
	f.Failure.Detail = words.Clip(f.Failure.Detail, maxText)
	f.explain(e.Time)
	b.failed = f
	b.failures++
	b.out.Figures.Failures = b.failures
	if b.rescuing.IsZero() {
		b.rescuing = e.Time
	}
	b.out.Figures.Kept = b.answered
	b.end(e, keyWait, StateStopped, "")
	title := f.Failure.Title
	if s := b.end(e, keyAttempt(body.Attempt), StateFailed, title); s != nil && body.Attempt != 0 {
		b.out.Figures.Failed++
		s.Failure = f
		s.said(body.Text)
		if a := b.run.Attempt; a != nil && a.ID == body.Attempt {
			s.said(a.Text)
		}
		s.Attempt.RequestID, s.Attempt.Headers = f.Failure.RequestID, body.Headers
		s.Attempt.used(body.Usage, b.run.Policy.Cost(s.Model, body.Usage))
		return
	}
	if s := b.lastTool(body.CallID); s != nil {
		s.Failure = f
		return
	}
	s := b.begin(e, keyFailure, Span{Kind: KindFailure, Label: failureLabel(body), Detail: title, Failure: f})
	b.end(e, keyFailure, StateFailed, "")
	s.Model = f.Failure.Model
}

const keyFailure = "failure"

// failureLabel names what failed if it was neither an attempt nor a tool call.
func failureLabel(body recovery.Failed) string {
	if body.Failure.Timer != "" {
		return "Time limit"
	}
	return "Limit"
}

// lastTool is the last span of that tool call.
func (b *Builder) lastTool(call string) *Span {
	if call == "" {
		return nil
	}
	for _, s := range slices.Backward(b.spans) {
		if s.Tool != nil && s.Tool.CallID == call {
			return s
		}
	}
	return nil
}

// explain derives the evidence from the provider's words and status, if they lead to the same kind:
// what the adapter itself saw is not in the log.
func (f *SpanFailure) explain(at time.Time) {
	v := &f.Failure
	switch {
	case v.Row != "":
		f.Evidence = []failure.Clue{{Source: failure.ClueFailure, Where: "a row of yours", Value: words.Clip(v.Row, 200), Decided: true}}
		return
	case v.Timer != "":
		f.Evidence = []failure.Clue{{Source: failure.ClueFailure, Where: "timer", Value: fmt.Sprintf("%s, after %s", v.Timer, words.Duration(v.Limit.Duration())), Decided: true}}
		return
	}
	d := failure.Diagnose(failure.Evidence{Phase: v.Phase, Provider: v.Provider, Model: v.Model, Status: v.HTTPStatus, Body: []byte(v.Detail), At: at})
	if d.Failure.Kind == v.Kind {
		f.Confidence, f.Evidence = d.Confidence, d.Evidence
		return
	}
	f.Evidence = []failure.Clue{{Source: failure.ClueFailure, Where: "how the call ended", Value: string(v.Kind), Decided: true}}
}

func (b *Builder) decided(d recovery.Decision) {
	f := b.failed
	if f == nil {
		return
	}
	f.Decision = &d
	for i := range f.Votes {
		f.Votes[i].count(d)
	}
	f.Decided = sentence(d)
}

// count says whether the vote counted and, if not, why.
func (v *CastVote) count(d recovery.Decision) {
	for _, ignored := range d.Ignored {
		if why, ok := strings.CutPrefix(ignored, v.Plugin+": "); ok {
			v.Lost = why
			return
		}
	}
	switch {
	case v.Shadow:
		v.Lost = "it is on trial"
	case v.Error != "":
		v.Lost = "it gave no answer"
	case v.Action == recovery.ActionNone:
		v.Lost = "it has no opinion"
	case d.By != nil && d.By.Plugin == v.Plugin:
		v.Won = true
	case d.By != nil:
		v.Lost = d.By.Plugin + " comes first"
	}
}

// sentence is a decision in words: "Retry in 2 s, by auto-recover: it may pass by itself. Only
// offered, because …".
func sentence(d recovery.Decision) string {
	var s strings.Builder
	switch d.Action {
	case recovery.ActionRetry:
		s.WriteString("Retry")
	case recovery.ActionSwitchModel:
		s.WriteString("Switch to " + d.NewModel)
	case recovery.ActionFail:
		s.WriteString("Give up")
	case recovery.ActionNone:
		s.WriteString("Nobody had an opinion")
	default:
		s.WriteString(words.Capital(strings.ReplaceAll(string(d.Action), "_", " ")))
	}
	if d.Delay > 0 {
		s.WriteString(" in " + words.Duration(d.Delay.Duration()))
	}
	if d.By != nil {
		s.WriteString(", by " + d.By.Plugin)
	}
	if d.Reason != "" {
		s.WriteString(": " + strings.TrimRight(words.Tidy(d.Reason), "."))
	}
	s.WriteString(".")
	if d.BlockedBy != "" {
		s.WriteString(" Only offered, because " + recovery.LimitInWords(d.BlockedBy) + ".")
	}
	return words.Clip(s.String(), maxText)
}

func (f *SpanFailure) copied() *SpanFailure {
	if f == nil {
		return nil
	}
	c := *f
	c.Votes = slices.Clone(f.Votes)
	return &c
}
