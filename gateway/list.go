package gateway

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// kindName is the name of a known failure kind.
type kindName string

// Schema implements huma.SchemaProvider.
func (kindName) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, k := range failure.Kinds() {
		s.Enum = append(s.Enum, string(k))
	}
	s.PrecomputeMessages()
	return s
}

// timeText is a time or an age in timeline.Filter's format. Its pattern rejects impossible days
// of a month and ages that are too large.
type timeText string

const (
	anAge  = "[0-9]{1,3}d|[0-9]{1,4}h|[0-9]{1,5}m|[0-9]{1,7}s"
	aDay   = "(19[7-9]|2[01][0-9])[0-9]-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))"
	aTime  = "T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?"
	moment = "^(" + anAge + "|" + aDay + "(" + aTime + ")?)$"
)

// Schema implements huma.SchemaProvider.
func (timeText) Schema(huma.Registry) *huma.Schema {
	longest := 40
	s := &huma.Schema{
		Type: huma.TypeString, MaxLength: &longest, Pattern: moment,
		PatternDescription: "a time: 2026-01-31, 2026-01-31T09:30:00Z, or how long ago, 12h or 7d",
	}
	s.PrecomputeMessages()
	return s
}

type listInput struct {
	query
	Status  string   `query:"status" enum:"running,waiting,completed,failed,cancelled" doc:"Only runs that stand so."`
	Session string   `query:"session" minLength:"1" maxLength:"128" doc:"Only runs of this conversation."`
	Model   string   `query:"model" minLength:"1" maxLength:"256" doc:"Only runs that asked this model last."`
	Kind    kindName `query:"kind" doc:"Only runs whose last failure was of this kind, also once they have recovered from it." example:"overloaded"`
	Decider string   `query:"decidedBy" minLength:"1" maxLength:"128" doc:"Only runs in which this plugin decided last; person: somebody answered." example:"auto-recover"`
	Label   []string `query:"label,explode" maxItems:"16" pattern:"^[a-z0-9][a-z0-9._/-]{0,63}=[^\\x00-\\x1f\\x7f-\\x9f]{0,256}$" doc:"Only runs with this label, as name=value; all of them, if there are several." example:"[\"tenant=acme\"]"`
	Text    string   `query:"text" minLength:"1" maxLength:"200" doc:"Only runs with this in their title, or in what failed, in small letters or large ones."`
	Since   timeText `query:"since" doc:"Only runs that started since then: a time, a day, or so long ago, as 12h or 7d." example:"7d"`
	Until   timeText `query:"until" doc:"Only runs that started before then." example:"2026-01-31"`
	Waiting bool     `query:"waiting" doc:"Only runs that wait."`
	Needs   bool     `query:"needsYou" doc:"Only runs whose suggestion is open: they wait for a person."`
	Order   string   `query:"order" enum:"newest,oldest" default:"newest" doc:"Which run comes first."`
	Limit   int      `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Before  string   `query:"before" minLength:"1" maxLength:"64" doc:"The cursor of the page before: only runs that come after it."`
}

// asks converts in to a store's query; some is false if no run can match.
func (in *listInput) asks(now time.Time) (q timeline.Query, some bool, err error) {
	q = timeline.Query{
		Session: in.Session, Model: in.Model, DecidedBy: in.Decider, Text: in.Text, Waiting: in.Waiting, SuggestionOpen: in.Needs, Limit: in.Limit, Before: in.Before,
	}
	f := timeline.Filter{Status: in.Status, Kind: string(in.Kind), Labels: in.Label, Since: string(in.Since), Until: string(in.Until), Order: in.Order}
	some, err = f.Restrict(&q, now)
	if wrong, ok := errors.AsType[*timeline.FilterError](err); ok {
		err = &InputError{Field: wrong.Field, Err: wrong.Err}
	}
	return q, some, err
}

type listOutput struct {
	Body struct {
		Runs []Listed `json:"runs"`
		Next string   `json:"next,omitempty" doc:"The cursor of the next page, if there may be one."`
	}
}

// Listed is a run in a list.
type Listed struct {
	ID             string           `json:"id"`
	Session        string           `json:"session,omitempty"`
	Title          string           `json:"title" doc:"The beginning of what the user said."`
	Labels         recovery.Labels  `json:"labels,omitempty"`
	Needs          recovery.Labels  `json:"needs,omitempty" doc:"Labels that the machine has which drives it."`
	Stranded       bool             `json:"stranded,omitempty" doc:"No machine is there that has what it needs: it waits for one."`
	Model          string           `json:"model"`
	Status         recovery.Status  `json:"status"`
	WaitingFor     recovery.WaitFor `json:"waitingFor,omitempty"`
	WaitingUntil   time.Time        `json:"waitingUntil,omitzero"`
	SuggestionOpen bool             `json:"suggestionOpen,omitempty" doc:"It waits for a person, and has not expired."`
	Kind           failure.Kind     `json:"kind,omitempty" doc:"Of its last failure, also once it has recovered from it."`
	Problem        string           `json:"problem,omitempty" doc:"That failure's title, and on another line the beginning of its message; with approval, what is to be approved."`
	Approval       bool             `json:"approval,omitempty" doc:"Nothing has failed: its open suggestion asks a person to approve a tool call."`
	DecidedBy      string           `json:"decidedBy,omitempty" doc:"The plugin that decided last; person: somebody answered."`
	Attempts       int              `json:"attempts" doc:"Model calls that have begun."`
	Failed         int              `json:"failedAttempts,omitempty" doc:"Of them, those that failed."`
	Tokens         int64            `json:"tokens" doc:"As far as the providers have said."`
	Wasted         int64            `json:"wastedTokens,omitempty" doc:"Of them, by attempts that failed."`
	Microdollars   int64            `json:"microdollars,omitempty" doc:"What they cost, where the prices are known."`
	WastedMoney    int64            `json:"wastedMicrodollars,omitempty"`
	StartedAt      time.Time        `json:"startedAt"`
	UpdatedAt      time.Time        `json:"updatedAt"`
	Seq            uint64           `json:"seq"`
}

func (g *Gateway) listRuns(ctx context.Context, in *listInput) (*listOutput, error) {
	q, some, err := in.asks(g.cfg.Now())
	if err != nil {
		return nil, g.problem(err)
	}
	out := &listOutput{}
	out.Body.Runs = []Listed{}
	if !some {
		return out, nil
	}
	list, err := g.cfg.Log.List(ctx, q)
	if err != nil {
		return nil, g.problem(err)
	}
	now := g.cfg.Now()
	stranded := map[string]bool{}
	if slices.ContainsFunc(list, func(s timeline.Summary) bool { return s.Needs != "" }) {
		stranded = g.stranded(ctx)
	}
	for _, s := range list {
		if !in.Needs || s.Asks(now) {
			one := listed(s, now)
			one.Stranded = stranded[s.Run]
			out.Body.Runs = append(out.Body.Runs, one)
		}
	}
	if len(list) == in.Limit {
		out.Body.Next = list[len(list)-1].Run
	}
	return out, nil
}

func listed(s timeline.Summary, now time.Time) Listed {
	c := s.Course.Course()
	one := Listed{
		ID: s.Run, Session: s.Session, Title: s.Title, Labels: s.Labels.Labels(), Needs: s.Needs.Labels(), Model: s.Model, Status: s.Status, WaitingFor: s.WaitingFor,
		WaitingUntil: s.WaitingUntil, SuggestionOpen: s.Asks(now), StartedAt: s.StartedAt, UpdatedAt: s.UpdatedAt, Seq: s.Seq,
		Kind: s.Kind, Problem: s.Problem, DecidedBy: s.DecidedBy, Attempts: c.Attempts, Failed: c.Failed, Tokens: c.Tokens, Wasted: c.Wasted,
		Microdollars: c.Microdollars, WastedMoney: c.WastedMicrodollars,
	}
	if c.Approval != "" && one.SuggestionOpen {
		one.Approval, one.Problem = true, c.Approval
	}
	return one
}
