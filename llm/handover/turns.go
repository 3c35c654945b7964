package handover

import "github.com/mulligan-run/mulligan/llm"

// takeTurns joins adjacent messages of one side, so that the user speaks first and the two sides
// take turns. Results come first in a user's message, since they must directly follow their calls.
func (h *hand) takeTurns(messages []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range messages {
		if m.Role == llm.RoleTool {
			m.Role = llm.RoleUser
		}
		if len(out) == 0 && m.Role == llm.RoleAssistant {
			h.repaired(llm.RepairOpening)
			out = append(out, llm.User(openingMessage))
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			last := &out[n-1]
			last.Parts = append(last.Parts, m.Parts...) // all parts are our own copies
			if m.Model == h.target.Model {
				last.Model = m.Model // the message also holds another model's words, but nothing marks them
			}
			continue
		}
		out = append(out, m)
	}
	return out
}
