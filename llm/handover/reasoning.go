package handover

import (
	"slices"

	"github.com/mulligan-run/mulligan/llm"
)

// WithoutReasoning gives messages without what only the model that wrote it may see again:
// reasoning, and the signatures of tool calls. It is for a model that does not accept its own
// reasoning back. It also says how many parts were left out. It does not change messages; a message
// with nothing else in it is left out.
func WithoutReasoning(messages []llm.Message) (kept []llm.Message, leftOut int) {
	for _, m := range messages {
		parts := make([]llm.Part, 0, len(m.Parts))
		for _, p := range m.Parts {
			switch {
			case p.Thinking != nil:
				leftOut++
				continue
			case p.Call != nil && p.Call.Signature != "":
				leftOut++
				call := *p.Call
				call.Signature = ""
				p.Call = &call
			}
			parts = append(parts, p)
		}
		if len(parts) > 0 || len(m.Parts) == 0 {
			m.Parts = parts
			kept = append(kept, m)
		}
	}
	if leftOut == 0 {
		return slices.Clip(messages), 0
	}
	return kept, leftOut
}
