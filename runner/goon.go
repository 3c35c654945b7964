package runner

import (
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/splice"
	"github.com/mulligan-run/mulligan/recovery"
)

// Continuing is a Caller that is told where an attempt goes on from what was said in the one
// before, so that a part of an answer that was shown is not the end of it. For any other
// Caller each attempt begins anew.
type Continuing interface {
	Caller
	// GoesOn is called in the place of Began: all that Heard took of the attempt before still
	// counts, and what is heard next is what comes after that, without another DeltaStart.
	// Its usage is of this attempt alone.
	GoesOn(attempt uint64, model string)
}

// goingOn is how an attempt goes on from the text of another one.
type goingOn struct {
	text   string // that had been said
	form   splice.Form
	joiner *splice.Joiner
}

// goOn has the attempt go on from what was said in the one that it continues.
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

// join gives what a delta means for the answer: itself, unless the attempt goes on from
// another one.
func (a *attempt) join(d llm.Delta) ([]llm.Delta, error) {
	if a.from == nil || d.Kind == llm.DeltaRepaired {
		a.joined = append(a.joined[:0], d)
		return a.joined, nil
	}
	d.More = false // what it means may be nothing
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

// continuable reports whether another attempt may go on from what was said in this one, which
// failed with f.
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

// continuable is a failure of the attempt in the air with what the runner knows of it.
func (l *loop) continuable(f recovery.Failed) recovery.Failed {
	for _, j := range l.air {
		if a := j.attempt; a != nil && a.id == f.Attempt {
			f.Continuable = a.continuable(f.Failure)
		}
	}
	return f
}

// saidBefore is what the attempt had said that the one in the air goes on from.
func (l *loop) saidBefore() string {
	if text := l.run.Attempt.Text; text != "" {
		return text
	}
	return l.unkept
}

// keepUnkept holds in memory what was said in an attempt, where the log may not have it.
func (l *loop) keepUnkept(a *attempt) {
	if l.unkept = ""; l.keepsFigures() {
		a.mu.Lock()
		defer a.mu.Unlock()
		l.unkept = a.answer.Message("").Text()
	}
}
