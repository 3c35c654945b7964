package recovery

import (
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

// MaxCompactions is how often a conversation may be shortened without a finished model call in
// between (spec §2: context_overflow has a remedy besides switching).
const MaxCompactions = 2

// SummaryTokens is the output limit for the model that writes a summary.
const SummaryTokens = 2000

// The stages of shortening a conversation: first long results of old tool calls are cut, then
// everything old is replaced with a summary.
const (
	compactResults = "results"
	CompactSummary = "summary"
)

const (
	keptResults   = 4         // the results in this many messages at the end stay whole
	longResult    = 2 << 10   // bytes; a shorter result is not worth shortening
	resultHead    = 1 << 10   // bytes kept from the beginning of a long one
	resultTail    = 512       // bytes kept from its end
	worthwhile    = 5         // shortening has to save at least a fifth
	maxSummarised = 200 << 10 // bytes of the old conversation that a summary is made from, at most
	maxTask       = 16 << 10  // bytes of the user's last message that a summary keeps word by word, at most
)

// Summarise is the effect of having a model sum up old turns. The shell writes Intent before it
// starts, and Compacted when it has ended; Text is the prompt for the model.
type Summarise struct {
	Intent Compacting
	Text   string
	InAir  bool
}

// compact shortens the conversation before the current decision is carried out.
func (r *Run) compact() []Effect {
	o := r.Open
	if c := r.Compacting; c != nil {
		return r.timed(summarise(*c, "", true))
	}
	if messages, keep, ok := shortenResults(r.Messages); ok {
		return record(r, Compacted{Messages: messages, Keep: keep, Stage: compactResults})
	}
	keep, ok := oldTurns(r.Messages)
	switch {
	case !ok:
		return record(r, Compacted{Stage: CompactSummary, Reason: "there is nothing old that could be left out"})
	case r.Compactions >= MaxCompactions:
		return record(r, Compacted{Stage: CompactSummary, Reason: "it was tried before"})
	}
	intent := Compacting{Failure: o.Seq, Model: r.summariser(), Keep: keep}
	text := transcriptOf(r.Messages[:keep])
	intent.Reserve = r.Policy.reserve(intent.Model, len(text), SummaryTokens)
	if over := r.permit(intent.Model, intent.Reserve); over != nil {
		return over
	}
	if first := r.beforeCall(Began{Round: r.Rounds + 1, Model: intent.Model, Reserve: intent.Reserve}); first != nil {
		return first
	}
	return r.timed(summarise(intent, text, false))
}

func summarise(intent Compacting, text string, inAir bool) Effect {
	return Effect{
		Key:       fmt.Sprintf("compact/%d", intent.Failure),
		Summarise: &Summarise{Intent: intent, Text: text, InAir: inAir},
	}
}

// SummaryMessage is the first message of a conversation whose older turns were summed up.
func SummaryMessage(summary string, messages []llm.Message) llm.Message {
	text := "Summary of the conversation so far, which had become too long:\n\n" + strings.TrimSpace(summary)
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; m.Role == llm.RoleUser && m.Text() != "" {
			return llm.User(text + "\n\nThe user's last message, word by word:\n\n" + words.Clip(m.Text(), maxTask))
		}
	}
	return llm.User(text)
}

// compactable reports whether there is anything left to shorten.
func (r *Run) compactable() bool {
	if r.Compactions >= MaxCompactions {
		return false
	}
	if r.advises() {
		return true // the caller holds the conversation
	}
	if _, _, ok := shortenResults(r.Messages); ok {
		return true
	}
	_, ok := oldTurns(r.Messages)
	return ok
}

func (r *Run) compacting(b Compacting) {
	r.Compactions++
	r.Compacting = &b
	r.leaveGate()
	r.reserved = b.Reserve
	r.Spent = r.Spent.Plus(b.Reserve)
}

func (r *Run) compacted(b Compacted) {
	if r.Compacting != nil {
		r.settle(r.Compacting.Model, b.Usage)
		r.Compacting = nil
	} else {
		r.Compactions++
	}
	// Keep also counts carried messages, so a run folded without them leaves its own messages as
	// they were.
	if b.Reason == "" && r.whole && b.Keep >= 0 && b.Keep <= len(r.Messages) {
		r.replace(append(append([]llm.Message{}, b.Messages...), r.Messages[b.Keep:]...))
		r.Carried = 0 // the new beginning belongs to this run and to those that continue it
	}
	o := r.Open
	if o == nil || o.Decision == nil {
		return
	}
	o.Compacted = true
	if b.Reason != "" { // the decision cannot be carried out; the remaining actions may be offered
		d := r.leave(*o.Decision)
		d.BlockedBy = blockedCompact
		o.Decision, o.Accepted = &d, false
	}
}

// shortenResults cuts the middle out of long results of old tool calls; ok is false if that would
// save too little.
func shortenResults(messages []llm.Message) (shorter []llm.Message, keep int, ok bool) {
	keep = max(0, len(messages)-keptResults)
	all, saved := 0, 0
	for i, m := range messages {
		all += size(m)
		if i >= keep {
			continue
		}
		short := shortenMessage(m)
		saved += size(m) - size(short)
		shorter = append(shorter, short)
	}
	return shorter, keep, saved > 0 && saved >= all/worthwhile
}

func shortenMessage(m llm.Message) llm.Message {
	for i, p := range m.Parts {
		if p.Result == nil || len(p.Result.Text) <= longResult {
			continue
		}
		result := *p.Result
		result.Text = cutMiddle(result.Text, resultHead, resultTail)
		parts := append([]llm.Part{}, m.Parts...)
		parts[i] = llm.Part{Result: &result}
		m.Parts = parts
	}
	return m
}

// oldTurns gives the index of the first message that is kept when the earlier ones are summed up.
// About a third of the conversation is kept, and a tool call is never separated from its result.
func oldTurns(messages []llm.Message) (keep int, ok bool) {
	all, recent := sizes(messages), 0
	keep = len(messages)
	for i := len(messages) - 1; i > 0; i-- {
		recent += size(messages[i])
		if recent > all/3 && keep < len(messages) {
			break
		}
		if messages[i].Role != llm.RoleTool {
			keep = i
		}
	}
	return keep, keep < len(messages) && keep > 1
}

func sizes(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += size(m)
	}
	return n
}

// size is about how many bytes a message takes in a request.
func size(m llm.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text)
		switch {
		case p.Thinking != nil:
			n += len(p.Thinking.Text) + len(p.Thinking.Signature) + len(p.Thinking.Redacted)
		case p.Image != nil:
			n += len(p.Image.Data)
		case p.Call != nil:
			n += len(p.Call.Name) + len(p.Call.Args) + len(p.Call.Signature)
		case p.Result != nil:
			n += len(p.Result.Text)
		}
	}
	return n
}

// transcriptOf writes old turns as text for the model that sums them up.
func transcriptOf(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, p := range shortenMessage(m).Parts {
			switch {
			case p.Text != "":
				fmt.Fprintf(&b, "%s: %s\n", m.Role, p.Text)
			case p.Image != nil:
				fmt.Fprintf(&b, "%s: (a picture)\n", m.Role)
			case p.Call != nil:
				fmt.Fprintf(&b, "%s calls %s with %s\n", m.Role, p.Call.Name, words.Clip(string(p.Call.Args), longResult))
			case p.Result != nil:
				fmt.Fprintf(&b, "result of %s: %s\n", p.Result.Name, p.Result.Text)
			}
		}
	}
	text := b.String()
	if len(text) <= maxSummarised {
		return text
	}
	return cutMiddle(text, maxSummarised/2, maxSummarised/2)
}

// cutMiddle keeps the first head and the last tail bytes of a long text.
func cutMiddle(text string, head, tail int) string {
	left := fmt.Sprintf("\n[… %d bytes left out …]\n", len(text)-head-tail)
	return words.Clip(text, head) + left + strings.ToValidUTF8(text[len(text)-tail:], "")
}
