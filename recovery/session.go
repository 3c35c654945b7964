package recovery

import (
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
)

// Carry puts before, the Conversation of the run that r Continues, in front of r's transcript. The
// events of a run do not repeat it. Before the transcript is shown to models or plugins, Carry is
// called after Started was applied or, if the run is not Whole, after Restore. Messages at the
// beginning of before may be missing if they were lost.
func (r *Run) Carry(before []llm.Message) {
	if r.whole {
		return
	}
	r.Messages = append(slices.Clip(before), r.Messages...)
	r.contextBytes += sizes(before)
	r.Carried, r.whole = len(before), true
}

// Whole reports whether r's transcript begins where its conversation does: it continues no other
// run, was given the earlier messages by Carry, or was shortened afterwards.
func (r *Run) Whole() bool { return r.whole }

// Interrupted is the last line of a partial answer that a person stopped, if the conversation goes
// on.
const Interrupted = "[The user stopped this answer here.]"

// Conversation is what a run that continues r begins with: the transcript, with a result for every
// tool call without one, and with the partial answer that a person stopped, which ends with
// Interrupted. It must not be changed.
func (r *Run) Conversation() []llm.Message {
	messages := slices.Clip(r.Messages)
	for _, t := range r.Pending {
		if !t.State.Over() {
			messages = append(messages, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Result: t.abandoned()}}})
		}
	}
	if a := r.Attempt; a != nil && a.Text != "" && r.Status == StatusCancelled {
		text := strings.TrimRight(a.Text, " \n") + "\n\n" + Interrupted
		messages = append(messages, llm.Message{Role: llm.RoleAssistant, Model: a.Model, Parts: []llm.Part{{Text: text}}})
	}
	return messages
}

// abandoned is the result of a call that had not returned when its run ended.
func (t *ToolRun) abandoned() *llm.ToolResult {
	result := &llm.ToolResult{CallID: t.Call.ID, Name: t.Call.Name, IsError: true, Text: "This call was never made."}
	if t.Tries > 0 {
		result.Text = "The outcome of this call is unknown: it was not waited for. It may or may not have taken effect. Check before calling it again."
	}
	return result
}

// Supersede makes the event that ends r because the next message of its session replaces its open
// suggestion; false if none is open.
func (r *Run) Supersede() (Ended, bool) {
	if r.offer == suggestionNone || r.cancelled || r.End != nil {
		return Ended{}, false
	}
	return Ended{Status: StatusFailed, StopReason: r.Open.stopReason()}, true
}
