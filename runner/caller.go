package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Call is a model call that another program makes: its run ends with the first answer. The request
// is held in memory as long as the run is open; whether it is also stored depends on the policy,
// see recovery.Keeping.
type Call struct {
	Request llm.Request // its Model is the run's
	Asked   *recovery.Digest
	Caller  Caller
	// Begun is called with the run's id once the run is durable, before Caller hears anything. It
	// must not wait for the run. nil = nobody wants to know.
	Begun func(run string)
	// Suggested is called with what a person is offered while the caller waits for the answer: the
	// run goes on until there is an answer, or the suggestion's time is over. nil = the run settles
	// when it has a suggestion.
	Suggested func(s recovery.Suggestion)

	stays bool // its conversation went to another model, and this call stays there
}

// Caller makes a Call and gets its answer as it comes. For each attempt, its methods are called by
// one goroutine at a time. An attempt that does not stop in time is abandoned; its later calls can
// be told by its number.
type Caller interface {
	// Began says that an attempt begins, or that it asks once more in another way because its
	// provider refused the first request. Everything that Heard got before is void, unless it was
	// already passed on.
	Began(attempt uint64, model string)
	// Heard gets the next delta of the attempt. Until it returns nothing more is read, and the
	// attempt's timers stand still. It returns soon after ctx ends; an error makes the attempt
	// fail.
	Heard(ctx context.Context, attempt uint64, d llm.Delta) error
	// Failed says why an attempt failed, with the adapter's error: its chain holds what the
	// provider itself said. It is called before anything is decided.
	Failed(attempt uint64, err error)
	// Shown says how much of the attempt's answer has reached the caller.
	Shown(attempt uint64) recovery.Shown
}

// asks is the Call of the run id; nil if it has none or another process had it.
func (r *Runner) asks(id string) *Call {
	v, _ := r.calls.Load(id)
	call, _ := v.(*Call)
	return call
}

// refuseEngine returns an error if a call would be answered by an engine, which runs whole turns.
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

// coolingCall is the cooldown of a call's model, if another model may be asked instead.
func (r *Runner) coolingCall(s recovery.Started) *recovery.Cooldown {
	if !s.Policy.AutoRecover {
		return nil
	}
	return r.replaceable(s.Model, s.Policy.Models)
}

// ask completes the Started event of a call.
func (req Request) ask(s *recovery.Started) {
	c := req.Call
	s.Policy.Tools, s.Policy.MaxRounds, s.Policy.ParallelTools = recovery.ToolsOfCaller, 0, 0
	s.Policy.Timeouts.Tool = 0
	labels := recovery.CallLabels(recovery.KindProxied, s.SessionKey)
	maps.Copy(labels, s.Labels)
	s.Labels = labels
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

// digest is a digest for contents that are not kept.
func digest(contents ...any) *recovery.Digest {
	text, err := json.Marshal(contents)
	if err != nil {
		return &recovery.Digest{} // arguments of a tool call that are not valid JSON
	}
	return recovery.DigestOf(text)
}

// waitsForPerson reports whether the caller waits for a person's answer.
func (l *loop) waitsForPerson() bool { return l.call != nil && l.call.Suggested != nil }

// tellSuggested tells the caller that a person is asked, when the timer of the suggestion starts.
func (l *loop) tellSuggested(t *recovery.SetTimer) {
	if due, _ := t.Write.(recovery.Due); due.Timer == failure.TimerExpiry && l.waitsForPerson() {
		l.call.Suggested(*l.run.Suggestion)
	}
}

// asked is the caller's own request, for an attempt.
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

// figures removes from an event the contents that the run does not keep.
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
		b.Failure.Unquote() // providers quote requests that they refuse
		return b
	}
	return b
}

// tellBegan tells the caller that the attempt begins.
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

// pass gives a delta, which was received at that time, to the caller; until that returns the
// attempt's timers stand still.
func (a *attempt) pass(ctx context.Context, at time.Time, d llm.Delta) error {
	call := a.loop.call
	if call == nil {
		return nil
	}
	a.clock.hold(at)
	err := call.Caller.Heard(ctx, a.id, d)
	a.clock.goOn(time.Now())
	if err != nil {
		a.mu.Lock()
		a.lost = true
		a.mu.Unlock()
	}
	return err
}
