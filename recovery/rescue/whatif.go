package rescue

import (
	"fmt"
	"slices"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// maxJudged is how many failures of a run are decided again: the last ones.
const maxJudged = 200

// Change is what should have been different. Zero fields change nothing.
type Change struct {
	AutoRecover *bool  `json:"autoRecover,omitempty"`
	MaxRetries  *int   `json:"maxRetries,omitempty"`
	Plugin      string `json:"plugin,omitempty" doc:"The only plugin whose vote counts; one on trial may be it."`
}

// WhatIf is how a run's failures would have been decided. Each is decided on its own, as it
// happened: what would have followed another decision is unknown.
type WhatIf struct {
	Run       string   `json:"run"`
	Change    Change   `json:"change"`
	Different int      `json:"different" doc:"How many failures would have gone otherwise."`
	Failures  []Judged `json:"failures" doc:"In their order; of many the last 200."`
	Left      int      `json:"failuresLeftOut,omitempty" doc:"Of the beginning, where there were too many."`
}

// Judged is a failure, what was done about it, and what would have been done.
type Judged struct {
	Seq       uint64       `json:"seq" doc:"Of the event that tells it."`
	At        int64        `json:"at" doc:"In milliseconds after the run began."`
	Model     string       `json:"model"`
	Kind      failure.Kind `json:"kind"`
	Title     string       `json:"title"`
	Then      Course       `json:"then"`
	Now       Course       `json:"now"`
	Different bool         `json:"different,omitempty"`
}

// Course is what is done about a failure.
type Course struct {
	Action   recovery.Action `json:"action,omitempty" doc:"retry, switch_model, fail; absent where nobody has an opinion."`
	NewModel string          `json:"newModel,omitempty"`
	Delay    failure.Millis  `json:"delayMs,omitempty"`
	By       string          `json:"by,omitempty" doc:"The plugin whose vote is taken."`
	Acts     bool            `json:"acts,omitempty" doc:"It is carried out; else a person is asked, or the run fails."`
	Text     string          `json:"text" doc:"The same in a sentence."`
}

// Supposing decides a run's failures again, event by event.
type Supposing struct {
	out   WhatIf
	run   *recovery.Run
	about recovery.Occasion // of the last votes
	votes []recovery.Vote   // about it, including those of plugins on trial
	last  *recovery.Run     // as it was when that was decided; nil before then
	texts bool
}

// Suppose begins to decide a run's failures again under a change. texts says whether to include
// reasons, which plugins wrote.
func Suppose(c Change, texts bool) *Supposing {
	return &Supposing{out: WhatIf{Change: c, Failures: []Judged{}}, run: &recovery.Run{}, texts: texts}
}

// Add takes the next event. Its error is recovery.Run's.
func (s *Supposing) Add(e recovery.Event) error {
	switch b := e.Body.(type) {
	case recovery.Voted:
		if b.Occasion != s.about {
			s.about, s.votes, s.last = b.Occasion, nil, nil
		}
		s.votes = append(s.votes, b.Vote)
		if s.last != nil && b.Vote.Shadow && b.Vote.Plugin == s.out.Change.Plugin {
			s.again() // a plugin on trial may vote after the decision
		}
	case recovery.Decided:
		if o := s.run.Open; o != nil && o.Occasion() == b.Occasion && b.Occasion.Hook() == recovery.HookRunError {
			if b.Occasion != s.about {
				s.about, s.votes = b.Occasion, nil
			}
			s.last = s.run.Clone()
			s.judge(b.Decision)
		}
	}
	return s.run.Apply(e)
}

// WhatIf is the result so far.
func (s *Supposing) WhatIf() WhatIf {
	s.out.Run = s.run.ID
	for _, j := range s.out.Failures {
		if j.Different {
			s.out.Different++
		}
	}
	return s.out
}

// judge decides about the open failure again.
func (s *Supposing) judge(then recovery.Decision) {
	o := s.run.Open
	j := Judged{
		Seq: o.Seq, At: o.At.Sub(s.run.StartedAt).Milliseconds(), Model: o.Failure.Model, Kind: o.Failure.Kind, Title: o.Failure.Title,
		Then: s.course(s.run, then),
	}
	if len(s.out.Failures) == maxJudged {
		s.out.Failures = slices.Delete(s.out.Failures, 0, 1)
		s.out.Left++
	}
	s.out.Failures = append(s.out.Failures, j)
	s.again()
}

// again decides about the last failure again, with all the votes known so far.
func (s *Supposing) again() {
	j := &s.out.Failures[len(s.out.Failures)-1]
	supposed, c := s.last.Clone(), s.out.Change
	if c.AutoRecover != nil {
		supposed.Policy.AutoRecover = *c.AutoRecover
	}
	if c.MaxRetries != nil {
		supposed.Policy.MaxRetries = *c.MaxRetries
	}
	if c.Plugin != "" {
		supposed.Policy.Plugins = []string{c.Plugin}
		supposed.Open.Votes = votesOf(s.votes, c.Plugin)
	}
	j.Now = s.course(supposed, recovery.Decide(supposed))
	j.Different = j.Now.Action != j.Then.Action || j.Now.NewModel != j.Then.NewModel || j.Now.Acts != j.Then.Acts
}

// votesOf are the votes of one plugin, on trial or not, as if they all counted.
func votesOf(votes []recovery.Vote, plugin string) []recovery.Vote {
	var list []recovery.Vote
	for _, v := range votes {
		if v.Plugin == plugin {
			v.Shadow = false
			list = append(list, v)
		}
	}
	return list
}

func (s *Supposing) course(run *recovery.Run, d recovery.Decision) Course {
	goesOn := d.Action == recovery.ActionRetry || d.Action == recovery.ActionSwitchModel
	c := Course{Action: d.Action, NewModel: d.NewModel, Delay: d.Delay, Acts: goesOn && d.BlockedBy == "" && (run.Policy.AutoRecover || run.Open.Accepted)}
	if d.By != nil {
		c.By = d.By.Plugin
	}
	if !s.texts {
		d.Reason = ""
	}
	c.Text = sentence(d)
	if goesOn && !c.Acts && d.BlockedBy == "" {
		c.Text = fmt.Sprintf("%s Only offered: it asks first.", c.Text)
	}
	return c
}
