package runner

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/splice"
	"github.com/mulligan-run/mulligan/recovery"
)

// Continuing is a Caller that can be told that an attempt continues the partial text of the one
// before it, so that showing part of an answer does not rule out recovery. For any other Caller
// each attempt starts from the beginning.
type Continuing interface {
	Caller
	// GoesOn is called instead of Began: everything that Heard got of the attempt before still
	// counts, and the next deltas continue it, without another DeltaStart. Their usage is that of
	// this attempt alone.
	GoesOn(attempt uint64, model string)
}

// goingOn is how an attempt continues the text of another one.
type goingOn struct {
	text   string // the earlier text
	form   splice.Form
	joiner *splice.Joiner
}

// goOn prepares the attempt to continue the text of the one before it.
func (a *attempt) goOn(text string) error {
	form := splice.Quote
	if a.loop.r.models.Capabilities(a.model).Prefill && !a.loop.r.refused.prefills(a.model) {
		form = splice.Prefill
	}
	a.from = &goingOn{text: text}
	a.answer.Add(llm.Delta{Kind: llm.DeltaText, Text: text})
	return a.goOnBy(form)
}

// goOnBy asks for the rest in that form.
func (a *attempt) goOnBy(form splice.Form) error {
	request, err := splice.Request(a.asked, a.from.text, form)
	if err != nil {
		return a.failure(failure.KindOutputTruncated, err)
	}
	request.ConnectTimeout = a.request.ConnectTimeout
	a.request, a.from.form, a.from.joiner = request, form, splice.NewJoiner(a.from.text, form, llm.Usage{})
	return nil
}

// join gives what d becomes in the answer: d itself, unless the attempt continues another one.
func (a *attempt) join(d llm.Delta) ([]llm.Delta, error) {
	if a.from == nil || d.Kind == llm.DeltaRepaired {
		a.joined = append(a.joined[:0], d)
		return a.joined, nil
	}
	d.More, d.Frame = false, nil // there may be no delta for d at all
	now := time.Now()
	a.clock.heard(now, d) // a repetition is progress, too
	a.mu.Lock()
	defer a.mu.Unlock()
	if d.Kind == llm.DeltaStart {
		a.answer.RequestID = d.RequestID
	}
	if a.firstEvent == 0 && !lifeless(d) {
		a.firstEvent = max(1, now.Sub(a.began))
	}
	var err error
	a.joined, err = a.from.joiner.Add(d, a.joined[:0])
	if err != nil {
		a.lost = true
		return nil, a.failure(failure.KindMalformedResponse, err)
	}
	return a.joined, nil
}

// continuable reports whether another attempt may continue the text of this one, which failed with
// f.
func (a *attempt) continuable(f failure.Failure) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if call := a.loop.call; call != nil {
		if _, ok := call.Caller.(Continuing); !ok {
			return false
		}
	}
	cut := splice.Cut{Request: a.asked, Heard: a.answer.Message(a.model), Filtered: f.Kind == failure.KindContentFilter}
	return a.by == "" && !a.lost && cut.Refusal() == ""
}

// continuable is f with Continuable set, if the runner knows the attempt in the air.
func (l *loop) continuable(f recovery.Failed) recovery.Failed {
	for _, j := range l.air {
		if a := j.attempt; a != nil && a.id == f.Attempt {
			f.Continuable = a.continuable(f.Failure)
		}
	}
	return f
}

// saidBefore is the text of the attempt that the one in the air continues.
func (l *loop) saidBefore() string {
	if text := l.run.Attempt.Text; text != "" {
		return text
	}
	return l.unkept
}

// keepUnkept holds the attempt's text in memory if the log must not hold it.
func (l *loop) keepUnkept(a *attempt) {
	if l.unkept = ""; l.keepsFigures() {
		a.mu.Lock()
		defer a.mu.Unlock()
		l.unkept = a.answer.Message("").Text()
	}
}
