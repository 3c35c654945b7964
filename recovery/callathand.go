package recovery

import "github.com/mulligan-run/mulligan/llm"

// CallAtHand is the tool call that the open failure is about; nil if it is about none. A person who
// is asked whether to run it again wants to see its arguments.
func (r *Run) CallAtHand() *llm.ToolCall {
	if r.Open == nil || r.Open.CallID == "" {
		return nil
	}
	for _, t := range r.Pending {
		if t.Call.ID == r.Open.CallID {
			return &t.Call
		}
	}
	return nil
}
