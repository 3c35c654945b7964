package runner

import (
	"slices"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// Redactor is implemented by Models that know secrets, such as *provider.Set. Text from people,
// tools, plugins and embedders' own models passes through Redact before it is written, shown or
// sent.
type Redactor interface {
	Redact(text string) string
}

// hide removes secrets from an event. Adapters clean what models say, piece by piece. All other
// text from outside is cleaned here.
func (r *Runner) hide(b recovery.Body) recovery.Body {
	clean, ok := r.models.(Redactor)
	if !ok {
		return b
	}
	switch b := b.(type) {
	case recovery.ToolReturned:
		b.Result.Text = clean.Redact(b.Result.Text)
		return b
	case recovery.Failed:
		hideFailure(clean, &b.Failure)
		b.Headers = b.Headers.Each(func(h *llm.Header) { h.Name, h.Value = clean.Redact(h.Name), clean.Redact(h.Value) })
		return b
	case recovery.Voted:
		b.Vote.Reason, b.Vote.Error = clean.Redact(b.Vote.Reason), clean.Redact(b.Vote.Error)
		b.Vote.Words = clean.Redact(b.Vote.Words)
		b.Vote.Actions = slices.Clone(b.Vote.Actions)
		for i := range b.Vote.Actions {
			button := &b.Vote.Actions[i]
			button.Label, button.URL = clean.Redact(button.Label), clean.Redact(button.URL)
		}
		return b
	case recovery.Noted:
		b.Detail = clean.Redact(b.Detail)
		return b
	}
	return b
}

// hideStarted is hide for a run's first event.
func (r *Runner) hideStarted(s *recovery.Started) {
	if clean, ok := r.models.(Redactor); ok {
		s.System, s.Input = clean.Redact(s.System), hideMessages(clean, s.Input)
		s.SessionKey, s.AgentID = clean.Redact(s.SessionKey), clean.Redact(s.AgentID)
		for key, value := range s.Labels {
			s.Labels[key] = clean.Redact(value)
		}
	}
}

func hideFailure(clean Redactor, f *failure.Failure) {
	for _, text := range []*string{&f.Title, &f.Message, &f.Detail, &f.ProviderCode, &f.RequestID} {
		*text = clean.Redact(*text)
	}
}

func hideMessages(clean Redactor, said []llm.Message) []llm.Message {
	said = slices.Clone(said)
	for i := range said {
		said[i].Parts = slices.Clone(said[i].Parts)
		for j := range said[i].Parts {
			p := &said[i].Parts[j]
			p.Text = clean.Redact(p.Text)
			if p.Result != nil {
				result := *p.Result
				result.Text = clean.Redact(result.Text)
				p.Result = &result
			}
		}
	}
	return said
}
