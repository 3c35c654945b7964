package runner

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/llm/handover"
	"github.com/mulligan-run/mulligan/llm/splice"
)

// A provider may refuse how it is asked, rather than what: a last message of the model's own, or
// the model's earlier reasoning. It is then asked once more without that, immediately and in the
// same attempt, since nothing was answered or used; and it is not asked that way again.

// maxRefused is how many refusals are remembered.
const maxRefused = 4096

// refusals are what providers have refused during the life of this process.
type refusals struct {
	mu        sync.Mutex
	prefill   map[string]bool // by model
	reasoning map[string]bool // by conversation and model
}

func (r *refusals) prefills(model string) bool { return r.has(&r.prefill, model) }

func (r *refusals) has(list *map[string]bool, key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return (*list)[key]
}

func (r *refusals) add(list *map[string]bool, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if *list == nil {
		*list = map[string]bool{}
	}
	for old := range maps.Keys(*list) {
		if len(*list) < maxRefused {
			break
		}
		delete(*list, old)
	}
	(*list)[key] = true
}

// reasoningKey names a conversation and a model; for a Call, the caller's conversation.
func (a *attempt) reasoningKey() string {
	run := a.loop.run
	return cmp.Or(run.Session, run.SessionKey, a.loop.id) + "\x00" + a.model
}

// leaveOutRefused removes from the request what the model's provider has refused in this
// conversation.
func (a *attempt) leaveOutRefused() {
	if r := &a.loop.r.refused; r.has(&r.reasoning, a.reasoningKey()) {
		a.leaveOutReasoning()
	}
}

// askOtherwise changes the request if err refuses how it was asked; false if there is no other way
// to ask, or if something was received.
func (a *attempt) askOtherwise(err error) bool {
	f, ok := failure.AsFailure(err)
	if !ok || a.firstEvent != 0 {
		return false
	}
	r := &a.loop.r.refused
	refused := f.Kind == failure.KindInvalidRequest || f.HTTPStatus == http.StatusBadRequest || f.HTTPStatus == http.StatusUnprocessableEntity
	switch {
	case refused && a.from != nil && a.from.form == splice.Prefill:
		r.add(&r.prefill, a.model)
		return a.goOnBy(splice.Quote) == nil
	case !refused && f.HTTPStatus != http.StatusNotFound || !aboutReasoning(f):
		return false
	}
	switch leftOut := a.leaveOutReasoning(); {
	case leftOut > 0:
		r.add(&r.reasoning, a.reasoningKey())
		a.repaired([]llm.Repair{{Kind: llm.RepairReasoning, Count: leftOut}})
	case !a.leaveOutNative():
		return false
	}
	if a.from != nil {
		return a.goOnBy(a.from.form) == nil
	}
	a.request.Messages, a.request.Native = a.asked.Messages, a.asked.Native
	return true
}

// leaveOutReasoning removes reasoning from the request, and returns the number of removed parts.
func (a *attempt) leaveOutReasoning() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	messages, leftOut := handover.WithoutReasoning(a.asked.Messages)
	if leftOut > 0 {
		a.asked.Messages, a.asked.Native = messages, nil
	}
	return leftOut
}

// leaveOutNative sends a translation instead of the caller's own bytes; false if that is already
// so. In a round of tool calls that another model began there is no reasoning to leave out: a
// provider that insists on some, because the caller asks for it, is not asked for any until the
// round is over.
func (a *attempt) leaveOutNative() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	had := a.asked.Native != nil
	a.asked.Native = nil
	return had
}

// aboutReasoning reports whether a provider refuses reasoning, or its signature.
func aboutReasoning(f *failure.Failure) bool {
	said := strings.ToLower(f.ProviderCode + " " + f.Detail)
	for _, word := range []string{"encrypted_content", "encrypted content", "thought_signature", "thoughtsignature", "thought signature", "item with id 'rs_", "of type 'reasoning'"} {
		if strings.Contains(said, word) {
			return true
		}
	}
	return strings.Contains(said, "thinking") && (strings.Contains(said, "signature") || strings.Contains(said, "block"))
}
