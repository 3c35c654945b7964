package pi

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// maxMessage is how much people are told about an obstacle to running Pi, in bytes.
const maxMessage = 300

// maxDetail leaves room for what we add to somebody else's words.
const maxDetail = failure.MaxDetail - 1<<10

// phase is how far the message has got.
func (h *messageStream) phase() failure.Phase {
	if h.shown {
		return failure.PhaseMidStream
	}
	return failure.PhaseBeforeFirstEvent
}

// classify completes the evidence and classifies it.
func (h *messageStream) classify(e failure.Evidence) *failure.Failure {
	e.Provider, e.Model, e.At = cmp.Or(e.Provider, h.provider), h.model, time.Now()
	return h.session.engine.cfg.Classify(e)
}

// failure is the failure of a message: what was seen of its request, or otherwise what Pi says
// about it.
func (h *messageStream) failure(m *message) *failure.Failure {
	f := h.said(m.ErrorMessage, h.phase())
	if seen, count := h.seen.failure(f.HTTPStatus); seen != nil {
		seen.RetryAfter = max(seen.RetryAfter, f.RetryAfter)
		f = seen
		if count > 1 {
			f.Detail = words.Clip(f.Detail, maxDetail) + fmt.Sprintf("\nPi's client library asked %d times before it said so.", count)
		}
	}
	f.RequestID = cmp.Or(f.RequestID, h.seen.requestID(), words.Clip(m.ResponseID, failure.MaxRequestID))
	return f
}

// said is the failure that Pi's words describe. A stream that ended without any words of an answer
// is an empty one.
func (h *messageStream) said(text string, phase failure.Phase) *failure.Failure {
	e, after := read(h.session.clean(text), phase)
	if e.Kind == failure.KindStreamInterrupted && e.Phase == failure.PhaseEndOfStream && !h.shown {
		e.Kind = failure.KindEmptyResponse
	}
	f := h.classify(e)
	f.RetryAfter = max(f.RetryAfter, after)
	return f
}

// refusal is the failure of a prompt that Pi does not accept.
func (h *messageStream) refusal(text string) *failure.Failure {
	f := h.said(text, failure.PhasePrompt)
	if f.Kind == failure.KindAuth {
		f.Variant = failure.VariantKeyMissing
		f.Describe(failure.Words{SetKey: "Log in with pi, or set its key where Mulligan runs" + exported(h.session.engine.cfg.keyVariable(h.provider)) + ", then retry."})
		f.Detail = words.Clip(f.Detail, maxDetail) + fmt.Sprintf("\nLog in with pi, or name the variable that holds the key in env of the provider %q in mulligan.yaml.", h.session.engine.cfg.Name)
	}
	return f
}

func exported(variable string) string {
	if variable == "" {
		return ""
	}
	return " (export " + variable + "=…)"
}

// trouble is the failure of our own connection to Pi.
func (h *messageStream) trouble(err error) error {
	if _, ok := failure.AsFailure(err); ok {
		return err
	}
	if text, ok := isRefusal(err); ok {
		return h.refusal(text)
	}
	kind := failure.KindInterrupted
	if _, ok := errors.AsType[*misconfiguredError](err); ok && !procgroup.Scarce(err) {
		kind = failure.KindMisconfigured
	}
	if p := h.session.last(); p != nil && errors.Is(err, errGone) {
		return h.died(p, err)
	}
	return h.ours(kind, failure.PhaseBeforeConnect, h.session.clean(err.Error()))
}

// died is the failure of a Pi that ended when it should not have. One that ended before it said
// anything cannot be run as it is.
func (h *messageStream) died(p *process, cause error) error {
	text := h.session.clean(cause.Error())
	if printed := h.session.clean(lastLines(p.errs.Bytes())); printed != "" {
		text += "; it printed:\n" + printed
	}
	switch {
	case !errors.Is(cause, errGone):
		return h.ours(failure.KindMalformedResponse, h.phase(), text)
	case p.spoke():
		return h.ours(failure.KindInterrupted, h.phase(), text)
	}
	return h.ours(failure.KindMisconfigured, failure.PhaseBeforeConnect, text)
}

func (h *messageStream) ours(kind failure.Kind, phase failure.Phase, text string) *failure.Failure {
	f := failure.Classify(failure.Evidence{Kind: kind, Phase: phase, Provider: h.provider, Model: h.model, Err: errors.New(text), At: time.Now()})
	f.Detail = words.Clip(text, failure.MaxDetail)
	if kind == failure.KindMisconfigured { // Pi is misconfigured, not an address
		f.Provider = h.session.engine.cfg.Name
		f.Describe(failure.Words{})
		f.Message = words.Clip(plain(text), maxMessage)
	}
	return f
}

// plain makes text one line that ends a sentence.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ToUpper(text[:min(1, len(text))]) + strings.TrimSuffix(text[min(1, len(text)):], ".") + "."
}
