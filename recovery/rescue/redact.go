package rescue

import (
	"fmt"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// WithoutTexts is r without the texts that users, models, tools, providers and plugins wrote: each
// is left out or replaced by its length. Mulligan's own words stay, and so do the names of models,
// plugins and tools.
func (r Rescue) WithoutTexts() Rescue {
	r.Redacted, r.Said, r.Session = true, nil, ""
	hide(&r.Title, &r.Answer)
	r.Headline = headline(standing{status: r.Status, needsYou: r.NeedsYou}, r.Figures)
	r.Asked.Messages = append([]SentMessage{}, r.Asked.Messages...)
	for i := range r.Asked.Messages {
		hide(&r.Asked.Messages[i].Text)
	}
	spans := make([]Span, len(r.Spans))
	for i := range r.Spans {
		spans[i] = r.Spans[i].withoutTexts()
	}
	r.Spans = spans
	return r
}

func hide(texts ...*string) {
	for _, text := range texts {
		if *text != "" {
			*text = fmt.Sprintf("[%d characters]", utf8.RuneCountInString(*text))
		}
	}
}

func (s Span) withoutTexts() Span {
	s = s.copied()
	switch {
	case s.Failure != nil:
		s.Detail = string(s.Failure.Failure.Kind)
	case s.Kind == KindPerson, s.Kind == KindWait, s.Kind == KindSummary:
		s.Detail = ""
	}
	if s.Attempt != nil {
		hide(&s.Attempt.Text)
		s.Attempt.Headers = s.Attempt.Headers.Each(func(h *llm.Header) { hide(&h.Value) })
	}
	if s.Tool != nil {
		hide(&s.Tool.Args, &s.Tool.Result)
	}
	s.Failure.hideTexts()
	return s
}

func (f *SpanFailure) hideTexts() {
	if f == nil {
		return
	}
	v := &f.Failure
	hide(&v.Message, &v.Detail)
	v.Title, v.LastStep = string(v.Kind), ""
	f.Evidence = append([]failure.Clue(nil), f.Evidence...)
	for i := range f.Evidence {
		if f.Evidence[i].Source != failure.ClueStatus {
			hide(&f.Evidence[i].Value)
		}
	}
	for i := range f.Votes {
		o := &f.Votes[i]
		hide(&o.Reason, &o.Error)
		o.Actions, o.Hash, o.PID = nil, "", 0
		if o.Lost != "" && !o.Won {
			hide(&o.Lost)
		}
	}
	if f.Decision != nil {
		d := *f.Decision
		hide(&d.Reason)
		d.Actions, d.Ignored = nil, nil
		if d.By != nil {
			by := *d.By
			hide(&by.Reason)
			by.Hash = ""
			d.By = &by
		}
		d.Reason, f.Decided = "", ""
		f.Decided = sentence(d)
		f.Decision = &d
	}
}
