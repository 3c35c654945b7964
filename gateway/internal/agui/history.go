package agui

import (
	"encoding/json"
	"strconv"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// History is a run as messages of a thread. For the conversation's last run it is only what the user
// said, because the stream tells the rest.
func History(r *recovery.Run, last bool) ([]Message, error) {
	var list []Message
	add := func(id, role string, m message) error {
		m.ID, m.Role = r.ID+"-"+id, role
		whole, err := json.Marshal(m)
		list = append(list, Message{ID: m.ID, Role: role, whole: whole})
		return err
	}
	said := r.Messages[r.Carried:]
	user := 0
	for user < len(said) && said[user].Role == llm.RoleUser {
		user++
	}
	if user > 0 {
		if err := add("user", "user", message{Content: said[user-1].Text()}); err != nil || last {
			return list, err
		}
	}
	if last {
		return list, nil
	}
	for i, m := range said[user:] {
		err := error(nil)
		switch m.Role {
		case llm.RoleAssistant:
			err = add("said-"+strconv.Itoa(i), "assistant", assistant(m))
		case llm.RoleTool:
			for _, p := range m.Parts {
				if p.Result != nil {
					err = add("result-"+p.Result.CallID, "tool", message{Content: p.Result.Text, CallID: p.Result.CallID})
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if a := r.Attempt; a != nil && a.Text != "" && r.Status != recovery.StatusCompleted {
		return list, add("partial", "assistant", message{Content: a.Text})
	}
	return list, nil
}

func assistant(m llm.Message) message {
	said := message{Content: m.Text()}
	for _, c := range m.Calls() {
		call := toolCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, string(c.Args)
		said.ToolCalls = append(said.ToolCalls, call)
	}
	return said
}
