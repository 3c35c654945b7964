package recovery

import (
	"maps"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// ToolCallState is how far a tool call has got.
type ToolCallState string

// The states of a tool call.
const (
	ToolCallWanted   ToolCallState = "wanted"   // not begun yet, or about to run again
	ToolCallInAir    ToolCallState = "in_air"   // begun, by the run's present owner
	ToolCallOrphaned ToolCallState = "orphaned" // begun, by an owner that was lost
	ToolCallFailed   ToolCallState = "failed"   // it failed, and plugins are asked what to tell the model
	ToolCallReturned ToolCallState = "returned" // it has a result, or an error
	ToolCallUnknown  ToolCallState = "unknown"  // it is over, and may or may not have taken effect
)

// Over reports whether the call will not run any more: it has returned, or its outcome is unknown.
func (s ToolCallState) Over() bool { return s == ToolCallReturned || s == ToolCallUnknown }

// ToolRun is a tool call of the last answer, and how far it has got.
type ToolRun struct {
	Call   llm.ToolCall
	Safety Safety
	By     string // ByEngine, ByCaller, or empty
	// Approval says whether a person has approved of the call, if that is needed.
	Approval approval
	Tries    int
	BeganAt  time.Time // of the last try
	Until    time.Time // when a call that the caller makes is given up
	State    ToolCallState
	Lost     bool           // the outcome is unknown because the process stopped while the tool ran
	Took     failure.Millis // how long it took, once it has returned
	Limit    failure.Millis // the limit of its timer, if that ended the call
	Notes    int            // progress notes about the last try
	Trouble  *ToolTrouble   // how it last failed, if plugins were asked about that
}

func (r *Run) toolBegan(e Event, b ToolBegan) {
	if t := r.tool(b.CallID); t != nil {
		t.Tries++
		t.BeganAt, t.Notes = e.Time, 0
		t.State = ToolCallInAir
		if t.By == ByCaller {
			t.Until = e.Time.Add(r.callerLimit(t.Call.Name).Duration())
		}
	}
}

func (r *Run) toolReturned(e Event, b ToolReturned) {
	t := r.tool(b.CallID)
	if t == nil {
		return
	}
	took := max(b.Elapsed, failure.InMillis(nonNegative(e.Time.Sub(t.BeganAt))))
	if t.Tries == 0 {
		took = 0
	}
	asked := r.asksAbout(t, b)
	t.Lost, t.State = t.State == ToolCallOrphaned, ToolCallReturned
	if b.Outcome == OutcomeUnknown {
		t.State = ToolCallUnknown
	}
	t.Took, t.Limit = took, b.Limit
	r.countFailure(t, b)
	if asked {
		r.toolFailed(e, t, b)
		return
	}
	if t.State == ToolCallUnknown && len(r.Policy.Plugins) > 0 {
		r.unsure = t
	}
	if r.awaitsCaller() { // a new Waiting is written for those that are left
		r.Wait, r.Status = nil, StatusRunning
		r.unpark(e.Time)
	}
	r.finishTool(e, t, b.Result)
}

// finishTool tells the model the result of a call.
func (r *Run) finishTool(e Event, t *ToolRun, result llm.ToolResult) {
	said := &struct { // together, since that is one allocation
		parts  [1]llm.Part
		result llm.ToolResult
	}{result: result}
	said.parts[0].Result = &said.result
	r.say(llm.Message{Role: llm.RoleTool, Parts: said.parts[:]})
	r.finishStep(e.Time, t.Call.Name, t.Took)
}

// countFailure counts a failure of a tool.
func (r *Run) countFailure(t *ToolRun, b ToolReturned) {
	if b.Outcome == OutcomeError && !b.NotRun {
		counts := maps.Clone(r.ToolFailures)
		if counts == nil {
			counts = map[string]int{}
		}
		counts[t.Call.Name]++
		r.ToolFailures = counts
	}
}

// tool is the call with that id that has no result yet.
func (r *Run) tool(callID string) *ToolRun {
	for _, t := range r.Pending {
		if t.Call.ID == callID && !t.State.Over() {
			return t
		}
	}
	return nil
}

// undeclared is the declaration of a tool that the run does not have.
var undeclared ToolDecl

// declared is the declaration of the tool with that name. It is only read.
func (r *Run) declared(tool string) *ToolDecl {
	for i := range r.Tools {
		if r.Tools[i].Name == tool {
			return &r.Tools[i]
		}
	}
	return &undeclared
}

// rerun removes a tool's result so that the tool runs again, because a person who knows the risk
// asked for that.
func (r *Run) rerun(callID string) {
	for _, t := range r.Pending {
		if t.Call.ID != callID || !t.State.Over() {
			continue
		}
		t.State = ToolCallWanted
		messages, own := slices.Clip(r.Messages[:r.Carried]), r.Messages[r.Carried:] // calls of earlier runs may have the same id
		r.replace(append(messages, slices.DeleteFunc(slices.Clone(own), func(m llm.Message) bool {
			return m.Role == llm.RoleTool && len(m.Parts) == 1 && m.Parts[0].Result != nil && m.Parts[0].Result.CallID == callID
		})...))
	}
}
