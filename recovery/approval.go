package recovery

import (
	"fmt"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// A call of a tool that is declared with Approval does not begin before a person has approved it.
// The answer's other calls run first; then the run stops, one such call at a time, with a
// suggestion that lets a person have the call made, refuse it, or stop the run. Nothing has failed,
// so there is no Failed before that suggestion: nobody counts, traces or lists a failure. Plugins
// are not asked, and automatic recovery approves nothing. The tools of an engine are not concerned.

// KindApproval and CodeApproval stand in the error of a suggestion that asks for an approval, which
// every suggestion has. They are not among failure.Kinds: nothing fails this way.
const (
	KindApproval failure.Kind = "approval"
	CodeApproval failure.Code = "RUN_NEEDS_APPROVAL"
)

// approval is how far a person's approval of a tool call has got.
type approval string

// The states of an approval.
const (
	approvalNotNeeded approval = ""
	approvalWanted    approval = "wanted"
	approvalGiven     approval = "given"
	approvalRefused   approval = "refused"
)

// refusedResult is what the model is told of a call that a person refused.
const refusedResult = "The user refused this call, and it was not made. Do not make it again; go on without it, or ask what to do instead."

// askApproval asks a person about the first call that waits for that; nil if there is none.
func (r *Run) askApproval() []Effect {
	for _, t := range r.Pending {
		if t.State != ToolCallWanted || t.Approval != approvalWanted {
			continue
		}
		asked := *r
		asked.Open = approvalOf(t.Call.ID, r.Seq+1, r.Last, r.approvalWords(t.Call.Name))
		return record(r, Suggested{CallID: t.Call.ID, Suggestion: asked.suggest()})
	}
	return nil
}

// approvalOf is what is open while a person is asked about a tool call, by event seq.
func approvalOf(call string, seq uint64, at time.Time, words failure.Failure) *OpenFailure {
	return &OpenFailure{Seq: seq, At: at, Failure: words, Cause: CauseApproval, CallID: call, Decision: &Decision{}}
}

// approvalWords say of a call of tool that it waits for a person.
func (r *Run) approvalWords(tool string) failure.Failure {
	f := r.failure(KindApproval, failure.OriginRunner, failure.PhaseTool)
	f.Code, f.Retryable, f.Tool = CodeApproval, false, tool
	f.Title, f.Message = tool+" waits for your approval", "The model wants to run it; it has not run yet."
	return f
}

// AsksApproval reports whether s asks a person to approve a tool call.
func (s *Suggestion) AsksApproval() bool { return s.SuggestedAction == ActionApprove }

// AsksApproval reports whether a person is asked to approve a tool call.
func (r *Run) AsksApproval() bool { return r.SuggestionOpen() && r.Suggestion.AsksApproval() }

// tellRefusal tells the model about the first call that a person refused; nil if there is none.
func (r *Run) tellRefusal() []Effect {
	for _, t := range r.Pending {
		if t.State == ToolCallWanted && t.Approval == approvalRefused {
			return record(r, ToolReturned{
				CallID: t.Call.ID, Outcome: OutcomeError, NotRun: true,
				Result: llm.ToolResult{CallID: t.Call.ID, Name: t.Call.Name, IsError: true, Text: refusedResult},
			})
		}
	}
	return nil
}

// approve keeps what a person answered about the call.
func (r *Run) approve(callID, button string) {
	t := r.tool(callID)
	switch {
	case t == nil:
	case button == ButtonRunTool:
		t.Approval = approvalGiven
	default:
		t.Approval = approvalRefused
	}
}

// leaveOutPlugins decides that a person answers, where no plugin is asked what to do.
func (r *Run) leaveOutPlugins(open *OpenFailure) {
	switch {
	case open.Cause == CauseToolAsked:
		r.askedPerson(open)
	case open.asksPerson():
		open.Decision = &Decision{}
	}
}

// asksPerson reports whether a person is to answer, whatever plugins may say.
func (o *OpenFailure) asksPerson() bool { return o.Cause == CauseToolAsked || o.Cause == CauseApproval }

// toolLabel is the label of a button about a tool, whose name it has.
func toolLabel(kind, tool string) string {
	switch kind {
	case ButtonRunTool:
		return "Run " + tool
	case ButtonRefuseTool:
		return "Do not run " + tool
	}
	return fmt.Sprintf("Run %s again", tool)
}
