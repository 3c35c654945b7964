package rescue

import (
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// The limits of one document. What exceeds them is left out and counted.
const (
	maxSpans    = 2000
	maxMessages = 400
	maxSaid     = 1000
	maxText     = 4 << 10 // of each text, in bytes
	maxTitle    = 200
)

// Rescue is a run in retrospect, or as far as it has got.
type Rescue struct {
	Run       string          `json:"run"`
	Session   string          `json:"session,omitempty"`
	Title     string          `json:"title" doc:"The beginning of what the user said."`
	Headline  string          `json:"headline" doc:"What it came to, in a sentence that can be read aloud."`
	Status    recovery.Status `json:"status" enum:"running,waiting,completed,failed,cancelled"`
	NeedsYou  bool            `json:"needsYou,omitempty" doc:"A suggestion is open."`
	Auto      bool            `json:"autoRecover"`
	Chosen    string          `json:"chosenModel" doc:"The model that the run was started with."`
	Model     string          `json:"model" doc:"The model that was asked last."`
	Plugins   []string        `json:"plugins,omitempty" doc:"Those that were asked, in the order in which they count."`
	StartedAt time.Time       `json:"startedAt"`
	UpdatedAt time.Time       `json:"updatedAt"`
	Over      bool            `json:"over,omitempty" doc:"Nothing more happens to it."`
	Seq       uint64          `json:"seq" doc:"Of the last event that is in it."`
	Figures   Figures         `json:"figures"`
	Spans     []Span          `json:"spans" doc:"What took how long, in the order in which it began."`
	LeftSpans int             `json:"spansLeftOut,omitempty" doc:"Of the beginning, where there were too many."`
	Asked     Sent            `json:"asked"`
	Said      []Said          `json:"said,omitempty" doc:"What people were told while it went on."`
	Answer    string          `json:"answer,omitempty"`
	Redacted  bool            `json:"redacted,omitempty" doc:"Texts are left out; only how long they are is told."`
}

// Said is a line that people were shown, and when.
type Said struct {
	At   int64  `json:"at" doc:"In milliseconds after the run began."`
	Text string `json:"text"`
}

// Builder makes a Rescue event by event. It never holds more than the document does.
type Builder struct {
	run   *recovery.Run
	out   Rescue
	open  map[string]*Span // by the key of what ends them
	spans []*Span

	failed   *SpanFailure // the subject of the next votes and decisions
	failures int
	answered recovery.Budget // used so far by attempts that got an answer
	rescuing time.Time       // since the first failure that no answer has followed yet
	parked   time.Time       // since when a person is asked
}

// NewBuilder makes a Builder that has no event yet.
func NewBuilder() *Builder { return &Builder{run: &recovery.Run{}, open: map[string]*Span{}} }

// Of makes the Rescue of a run's events as of now.
func Of(events []recovery.Event, now time.Time) (Rescue, error) {
	b := NewBuilder()
	for _, e := range events {
		if err := b.Add(e); err != nil {
			return Rescue{}, err
		}
	}
	return b.Rescue(now), nil
}

// Add takes the next event. It refuses what recovery.Run.Apply refuses.
func (b *Builder) Add(e recovery.Event) error {
	before := b.run.Model
	if err := b.run.Apply(e); err != nil {
		return err
	}
	b.happened(e, before)
	if text := words.Clip(e.Text, recovery.MaxText); text != "" && len(b.out.Said) < maxSaid {
		b.out.Said = append(b.out.Said, Said{At: b.at(e.Time), Text: text})
	}
	return nil
}

// at converts a time of the run to milliseconds since the run began.
func (b *Builder) at(t time.Time) int64 { return max(0, t.Sub(b.run.StartedAt).Milliseconds()) }

func (b *Builder) happened(e recovery.Event, before string) {
	switch body := e.Body.(type) {
	case recovery.Started:
		b.started(body)
	case recovery.Began:
		b.began(e, body, before)
	case recovery.Answered:
		b.hasAnswered(e, body)
	case recovery.Failed:
		if body.Cause != recovery.CauseApproval { // nothing has failed: a person is asked
			b.hasFailed(e, body)
		}
	case recovery.Voted:
		if b.failed != nil && body.Occasion.Hook() != recovery.HookBeforeCall {
			b.failed.Votes = append(b.failed.Votes, CastVote{Vote: body.Vote, Forbids: body.Vote.Restrict.InWords()})
		}
	case recovery.Decided:
		if body.Occasion.Hook() != recovery.HookBeforeCall {
			b.decided(body.Decision)
		}
	case recovery.Waiting:
		b.begin(e, keyWait, Span{Kind: KindWait, Label: waitLabel(body), Detail: waitDetail(body), Model: body.Model})
	case recovery.Due:
		b.end(e, keyWait, StateOK, "")
	case recovery.ToolBegan:
		b.toolBegan(e, body)
	case recovery.ToolReturned:
		b.toolReturned(e, body)
	case recovery.Compacting:
		b.begin(e, keySummary, Span{Kind: KindSummary, Label: body.Model, Detail: "shortens the conversation", Model: body.Model})
	case recovery.Compacted:
		b.end(e, keySummary, stateOf(body.Reason == ""), body.Reason)
	case recovery.Suggested:
		b.parked = e.Time
		b.begin(e, keyPerson, Span{Kind: KindPerson, Label: "You", Detail: body.Suggestion.Title})
	case recovery.Accepted:
		b.accepted(e, body)
	case recovery.Paused:
		b.paused(e, body)
	case recovery.CancelRequested:
		if s := b.open[keyAttempt(body.Attempt)]; s != nil {
			s.said(b.run.Answer())
		}
		b.endAll(e)
	case recovery.Ended:
		b.endAll(e)
	case recovery.Claimed:
		b.claimed(e)
	}
}

func (b *Builder) started(body recovery.Started) {
	for _, m := range body.Input {
		if m.Role == llm.RoleUser {
			b.out.Title = words.Clip(words.Tidy(m.Text()), maxTitle)
		}
	}
	b.ask(body)
}

// Rescue is what the events amount to so far. Only one thing in it depends on now: whether a
// suggestion has expired.
func (b *Builder) Rescue(now time.Time) Rescue {
	r, out := b.run, b.out
	out.Run, out.Session, out.Status, out.NeedsYou = r.ID, r.Session, r.Status, r.OpenSuggestion(now) != nil
	out.Auto, out.Chosen, out.Model, out.Plugins = r.Policy.AutoRecover, r.Chosen, r.Model, r.Policy.Plugins
	out.StartedAt, out.UpdatedAt, out.Over, out.Seq = r.StartedAt, r.Last, r.End != nil, r.Seq
	out.Answer = words.Clip(r.Answer(), maxText)
	out.Asked.Messages, out.Asked.Left = b.messages()
	all := b.spans
	if len(all) > maxSpans {
		out.LeftSpans = len(all) - maxSpans
		all = all[out.LeftSpans:]
	}
	out.Spans = make([]Span, 0, len(all))
	for _, s := range all {
		out.Spans = append(out.Spans, s.copied())
	}
	out.Figures = b.figures()
	out.Headline = words.Clip(headline(b.standing(out.NeedsYou), out.Figures), recovery.MaxText)
	return out
}
