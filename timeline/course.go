package timeline

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Course is how a run has gone so far: what its model calls used, and what a person is offered.
// It counts what providers reported, so a call in the air has cost nothing yet.
type Course struct {
	Provider string `json:"provider,omitempty"` // the entry of the failure that Summary.Kind names
	Attempts int    `json:"attempts,omitempty"` // model calls begun
	Failed   int    `json:"failed,omitempty"`   // model calls that failed
	Tokens   int64  `json:"tokens,omitempty"`
	Wasted   int64  `json:"wasted,omitempty"` // the part of Tokens that failed attempts used
	// Microdollars and WastedMicrodollars are the same in money, for models with a known price.
	Microdollars       int64   `json:"microdollars,omitempty"`
	WastedMicrodollars int64   `json:"wastedMicrodollars,omitempty"`
	Offers             []Offer `json:"offers,omitempty"` // of the open suggestion
	// Approval is the text of the open suggestion that asks for the approval of a tool call, in the
	// form of Summary.Problem; "" if there is none.
	Approval string `json:"approval,omitempty"`

	Prices map[string]recovery.Price `json:"prices,omitempty"` // of the models that the run may ask
}

// Offer is an action of an open suggestion that the runner carries out.
type Offer struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"`
	Label string `json:"label"`
}

// CourseText is a Course as a Summary holds it: JSON, "" for none.
type CourseText string

// Course decodes t.
func (t CourseText) Course() Course {
	var c Course
	var n numbers
	if t == "" {
		return c
	} else if n.read(string(t)) {
		return n.course()
	}
	_ = json.Unmarshal([]byte(t), &c) // we wrote it
	return c
}

// note updates the course by the run's next event.
func (s *Summary) note(b recovery.Body, c *coursing) {
	switch b := b.(type) {
	case recovery.Started:
		c.change(func(c *Course) { c.Prices = pricesOf(b) })
	case recovery.Began:
		c.change(func(c *Course) { c.Attempts++ })
	case recovery.Answered:
		c.change(func(c *Course) { c.use(s.Model, b.Usage, false) })
	case recovery.Compacted:
		c.change(func(c *Course) { c.use(b.Model, b.Usage, false) })
	case recovery.Failed:
		s.fail(b, c)
	case recovery.Decided:
		if hook := b.Occasion.Hook(); hook == recovery.HookBeforeCall || hook == recovery.HookToolError { // not about a failure
			return
		}
		s.DecidedBy = ""
		if by := b.Decision.By; by != nil {
			s.DecidedBy = by.Plugin
		}
	case recovery.Suggested:
		c.change(func(c *Course) {
			c.Offers, c.Approval = offersOf(b.Suggestion), ""
			if b.Suggestion.AsksApproval() {
				c.Approval = problem(b.Suggestion.Error)
			}
		})
	case recovery.Accepted:
		s.DecidedBy = DecidedByPerson
		c.change(func(c *Course) { c.Offers, c.Approval = nil, "" })
	case recovery.Ended:
		c.change(func(c *Course) { c.Offers, c.Approval, c.Prices = nil, "", nil })
	}
}

// DecidedByPerson stands in Summary.DecidedBy if a person has answered.
const DecidedByPerson = "person"

func (s *Summary) fail(b recovery.Failed, c *coursing) {
	f := b.Failure
	s.Kind, s.Problem = f.Kind, problem(f)
	c.change(func(c *Course) {
		c.Provider = f.Provider
		if b.Attempt != 0 {
			c.Failed++
			c.use(s.Model, b.Usage, true)
		}
	})
}

// problem is the text of a failure for people: the title on one line, the message on the next.
func problem(f failure.Failure) string {
	title, message := line(f.Title, MaxTitle), line(f.Message, maxProblem)
	if message == "" {
		return title
	}
	return title + "\n" + message
}

// maxProblem is how much of a failure's message Summary.Problem holds, in characters.
const maxProblem = 240

// coursing is a course while several events change it: it is decoded and encoded once for all of
// them.
type coursing struct {
	text   CourseText
	course *Course // nil as long as nothing changes
}

func (c *coursing) change(by func(*Course)) {
	if c.course == nil {
		course := c.text.Course()
		c.course = &course
	}
	by(c.course)
}

func (c *coursing) encoded() CourseText {
	if c.course == nil {
		return c.text
	}
	return c.course.text()
}

// use counts what a call of model used.
func (c *Course) use(model string, u llm.Usage, wasted bool) {
	used := recovery.Policy{Prices: c.Prices}.Cost(model, u)
	c.Tokens, c.Microdollars = llm.Sum(c.Tokens, used.Tokens), llm.Sum(c.Microdollars, used.Microdollars)
	if wasted {
		c.Wasted, c.WastedMicrodollars = llm.Sum(c.Wasted, used.Tokens), llm.Sum(c.WastedMicrodollars, used.Microdollars)
	}
}

// pricesOf are the prices of the models that the run may ask.
func pricesOf(b recovery.Started) map[string]recovery.Price {
	prices := maps.Clone(b.Policy.Prices)
	maps.DeleteFunc(prices, func(model string, _ recovery.Price) bool {
		return model != b.Model && model != b.Policy.CompactionModel && !slices.Contains(b.Policy.Models, model)
	})
	return prices
}

// offersOf are the actions of a suggestion that the runner carries out.
func offersOf(s recovery.Suggestion) []Offer {
	var offers []Offer
	for _, b := range s.Actions {
		if b.Effect == recovery.EffectRunner {
			offers = append(offers, Offer{ID: b.ID, Kind: b.Kind, Model: b.Model, Label: b.Label})
		}
	}
	return offers
}
