package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Call is a model call that another program makes: its run ends with the first answer. What
// it asks is held in memory as long as the run is open; whether it is kept beside that is the
// policy's to say, see recovery.Keeping.
type Call struct {
	Request llm.Request // its Model is the run's
	Asked   *recovery.Digest
	Caller  Caller
	// Suggested is told what a person is offered where the caller waits for the answer: the run
	// is driven on until there is one, or the suggestion's time is over. nil = it settles there.
	Suggested func(s recovery.Suggestion)

	stays bool // where its conversation went, and does not begin with the model that is asked for
}

// Caller is who made a Call, and gets its answer as it comes. Its methods are called by one
// goroutine at a time for each attempt. An attempt that does not end when it is told to is
// left behind: what it still says has its number.
type Caller interface {
	// Began: an attempt begins, or is asked once more in another way since its provider refused
	// the first. Of what was heard before nothing counts any more that Heard has not passed on.
	Began(attempt uint64, model string)
	// Heard takes what the attempt hears next. Until it returns nothing more is heard, and
	// the clocks of the attempt stand still. It returns soon after ctx ends; an error ends
	// the attempt as failed.
	Heard(ctx context.Context, attempt uint64, d llm.Delta) error
	// Failed says why an attempt failed, as the adapter told it: the error's chain has what
	// the provider itself said. It comes before anybody decides what follows.
	Failed(attempt uint64, err error)
	// Shown is what of the attempt's answer has reached whoever asked.
	Shown(attempt uint64) recovery.Shown
}

// asks is the call of the run id, nil where it is none or its process was another.
func (r *Runner) asks(id string) *Call {
	v, _ := r.calls.Load(id)
	call, _ := v.(*Call)
	return call
}

// refuseEngine refuses to have a call answered by what runs whole turns of its own.
func (r *Runner) refuseEngine(models []string) error {
	for _, name := range models {
		if model, err := r.models.Model(name); err == nil {
			if _, ok := model.(llm.Engine); ok {
				return fmt.Errorf("%s carries out tools of its own, and cannot answer another program's call", name)
			}
		}
	}
	return nil
}

// coolingCall is the cooldown of a call's model, where another is asked in its place.
func (r *Runner) coolingCall(s recovery.Started) *recovery.Cooldown {
	if !s.Policy.AutoRecover {
		return nil
	}
	return r.replaceable(s.Model, s.Policy.Models)
}

// ask completes what opens the run of a call.
func (req Request) ask(s *recovery.Started) {
	c := req.Call
	s.Policy.Tools, s.Policy.MaxRounds, s.Policy.ParallelTools = recovery.ToolsOfCaller, 0, 0
	s.Policy.Timeouts.Tool = 0
	if s.Policy.Keep == recovery.KeepFigures {
		s.System, s.Input, s.Asked = "", []llm.Message{}, c.Asked
		if s.Asked == nil {
			s.Asked = digest(c.Request.System, c.Request.Messages, c.Request.Tools)
		}
		return
	}
	s.System, s.Input = c.Request.System, c.Request.Messages
	for _, t := range c.Request.Tools {
		s.Tools = append(s.Tools, recovery.ToolDecl{Tool: t})
	}
}

// digest stands for contents.
func digest(contents ...any) *recovery.Digest {
	text, err := json.Marshal(contents)
	if err != nil {
		return &recovery.Digest{} // arguments of a tool call that are no JSON
	}
	return recovery.DigestOf(text)
}

// waitsForPerson reports whether whoever called waits for a person's answer.
func (l *loop) waitsForPerson() bool { return l.call != nil && l.call.Suggested != nil }

// tellSuggested tells whoever called that a person is asked: the clock of that begins to run.
func (l *loop) tellSuggested(t *recovery.SetTimer) {
	if due, _ := t.Write.(recovery.Due); due.Timer == failure.TimerExpiry && l.waitsForPerson() {
		l.call.Suggested(*l.run.Suggestion)
	}
}

// asked is the caller's own request as an attempt makes it.
func (c *Call) asked(b recovery.Began) llm.Request {
	req := c.Request
	req.Model = b.Model
	if b.Adjust.MaxOutputTokens > 0 {
		req.MaxOutputTokens = b.Adjust.MaxOutputTokens
	}
	if b.Adjust.ReasoningEffort != "" {
		req.ReasoningEffort = b.Adjust.ReasoningEffort
	}
	return req
}

// keepsFigures reports whether nothing of what is said may be written or published.
func (l *loop) keepsFigures() bool { return l.run.Policy.Keep == recovery.KeepFigures }

// figures leaves out of what is about to be written what the run does not keep.
func (l *loop) figures(b recovery.Body) recovery.Body {
	if !l.keepsFigures() {
		return b
	}
	switch b := b.(type) {
	case recovery.Answered:
		if b.Said == nil {
			b.Said, b.Message.Parts = digest(b.Message.Parts), []llm.Part{}
		}
		return b
	case recovery.Failed:
		b.Failure.Unquote() // providers quote what they refuse
		return b
	}
	return b
}

// tellBegan tells whoever called that the attempt begins.
func (a *attempt) tellBegan() {
	call := a.loop.call
	if call == nil {
		return
	}
	if on, ok := call.Caller.(Continuing); ok && a.from != nil {
		on.GoesOn(a.id, a.model)
		return
	}
	call.Caller.Began(a.id, a.model)
}

// pass gives whoever called what was heard; its clocks stand still as long as that takes.
func (a *attempt) pass(ctx context.Context, d llm.Delta) error {
	call := a.loop.call
	if call == nil {
		return nil
	}
	a.clock.hold(true)
	defer a.clock.hold(false)
	err := call.Caller.Heard(ctx, a.id, d)
	if err != nil {
		a.mu.Lock()
		a.lost = true
		a.mu.Unlock()
	}
	return err
}
