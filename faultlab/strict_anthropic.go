package faultlab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
)

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens *int               `json:"max_tokens"`
	Messages  []anthropicMsg     `json:"messages"`
	Tools     []anthropicToolDef `json:"tools"`
	Thinking  *anthropicThinking `json:"thinking"`

	issued func(seal string) bool
}

type anthropicThinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

type anthropicMsg struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type anthropicToolDef struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"input_schema"`
}

func checkAnthropic(in query) (ask, *wire.Report) {
	var q anthropicRequest
	if err := json.Unmarshal(in.body, &q); err != nil {
		return ask{}, anthropicInvalid(400, "The request body is not valid JSON: "+err.Error())
	}
	a := in.ask()
	if in.header.Get("Anthropic-Version") == "" {
		return a, anthropicInvalid(400, "anthropic-version: header is required")
	}
	q.issued = func(seal string) bool { return in.issued(q.Model, seal) }
	if c := first(q.head, q.roles, q.blocks, q.turns, q.pairs, q.thinking, q.tools); c != nil {
		return a, anthropicInvalid(400, c.message)
	}
	return a, nil
}

func (q *anthropicRequest) head() *complaint {
	switch {
	case q.Model == "":
		return complain("model: Field required")
	case len(q.Model) > maxModelName:
		return complain("model: String should have at most %d characters", maxModelName)
	case q.MaxTokens == nil:
		return complain("max_tokens: Field required")
	case *q.MaxTokens < 1:
		return complain("max_tokens: Input should be greater than or equal to 1")
	case len(q.Messages) == 0:
		return complain("messages: at least one message is required")
	}
	return nil
}

func (q *anthropicRequest) roles() *complaint {
	for i, m := range q.Messages {
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return complain("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i == 0 && m.Role != "user":
			return complain(`messages: first message must use the "user" role`)
		}
	}
	return nil
}

func (q *anthropicRequest) blocks() *complaint {
	seen := map[string]bool{}
	for i, m := range q.Messages {
		if len(m.Content.blocks) == 0 {
			return complain("messages.%d: all messages must have non-empty content", i)
		}
		for j, b := range m.Content.blocks {
			if c := b.check(m.Role, fmt.Sprintf("messages.%d.content.%d", i, j)); c != nil {
				return c
			}
			if b.Type == "tool_use" && seen[b.ID] {
				return complain("messages.%d.content.%d: `tool_use` ids must be unique", i, j)
			}
			seen[b.ID] = true
		}
	}
	return nil
}

// turns joins neighbouring messages of one role, as the service does. It never complains.
func (q *anthropicRequest) turns() *complaint {
	var turns []anthropicMsg
	for _, m := range q.Messages {
		if last := len(turns) - 1; last >= 0 && turns[last].Role == m.Role {
			turns[last].Content.blocks = append(turns[last].Content.blocks, m.Content.blocks...)
			continue
		}
		turns = append(turns, m)
	}
	q.Messages = turns
	return nil
}

// check checks one block by itself.
func (b block) check(role, at string) *complaint {
	switch b.Type {
	case "":
		return complain("%s.type: Field required", at)
	case "text":
		if b.Text == "" {
			return complain("messages: text content blocks must be non-empty")
		}
	case "thinking", "redacted_thinking":
		if role != "assistant" {
			return complain("%s: `%s` blocks can only be in `assistant` messages", at, b.Type)
		}
	case "tool_use":
		return b.checkUse(role, at)
	case "tool_result":
		if role != "user" {
			return complain("%s: `tool_result` blocks can only be in `user` messages", at)
		}
		return checkID(b.ToolUseID, at+".tool_result.tool_use_id")
	}
	return nil
}

func (b block) checkUse(role, at string) *complaint {
	switch {
	case role != "assistant":
		return complain("%s: `tool_use` blocks can only be in `assistant` messages", at)
	case !anthropicTool.MatchString(b.Name):
		return complain("%s.tool_use.name: String should match pattern '%s'", at, anthropicTool)
	case !isObject(b.Input):
		return complain("%s.tool_use.input: Input should be a valid dictionary", at)
	}
	return checkID(b.ID, at+".tool_use.id")
}

func checkID(id, at string) *complaint {
	if !anthropicID.MatchString(id) {
		return complain("%s: String should match pattern '%s'", at, anthropicID)
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimSpace(string(raw)), "{")
}

// pairs demands a tool_result for each tool_use, at the beginning of the next message, and the
// reverse.
func (q *anthropicRequest) pairs() *complaint {
	var uses []string
	for i, m := range q.Messages {
		if c := answered(i, uses, m.Content); c != nil {
			return c
		}
		uses = m.Content.uses()
	}
	if len(uses) > 0 {
		return unanswered(len(q.Messages)-1, uses)
	}
	return nil
}

// answered checks message i against the calls of the one before it.
func answered(i int, uses []string, m content) *complaint {
	results := m.results()
	for n, id := range results {
		switch {
		case !slices.Contains(uses, id):
			return complain("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, n, id)
		case slices.Contains(results[:n], id):
			return complain("messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, n, id)
		}
	}
	var missing []string
	for _, id := range uses {
		if !slices.Contains(results, id) {
			missing = append(missing, id)
		}
	}
	if late := len(results) > 0 && !resultsFirst(m); late {
		missing = results
	}
	if len(missing) > 0 {
		return unanswered(i-1, missing)
	}
	return nil
}

func resultsFirst(m content) bool {
	for _, b := range m.blocks[:len(m.results())] {
		if b.Type != "tool_result" {
			return false
		}
	}
	return true
}

func unanswered(i int, ids []string) *complaint {
	return complain("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(ids, ", "))
}

// thinking checks the reasoning: who signed it, and whether it is where the service wants it.
func (q *anthropicRequest) thinking() *complaint {
	for i, m := range q.Messages {
		for j, b := range m.Content.blocks {
			if c := q.seal(b, fmt.Sprintf("messages.%d.content.%d", i, j)); c != nil {
				return c
			}
		}
	}
	if q.Thinking == nil || q.Thinking.Type != "enabled" {
		return nil
	}
	switch {
	case q.Thinking.Budget < minThinking:
		return complain("thinking.enabled.budget_tokens: Input should be greater than or equal to %d", minThinking)
	case q.Thinking.Budget >= *q.MaxTokens:
		return complain("`max_tokens` must be greater than `thinking.budget_tokens`.")
	}
	return q.begunThinking()
}

const minThinking = 1024 // tokens

func (q *anthropicRequest) seal(b block, at string) *complaint {
	switch {
	case b.Type == "redacted_thinking" && !q.issued(b.Data):
		return complain("%s: Invalid `data` in `redacted_thinking` block", at)
	case b.Type != "thinking":
		return nil
	case b.Signature == nil:
		return complain("%s.thinking.signature: Field required", at)
	case !q.issued(*b.Signature):
		return complain("%s: Invalid `signature` in `thinking` block", at)
	}
	return nil
}

// begunThinking demands that the last assistant message, if it calls tools, begins with reasoning.
func (q *anthropicRequest) begunThinking() *complaint {
	for i, m := range slices.Backward(q.Messages) {
		if m.Role != "assistant" {
			continue
		}
		found := m.Content.blocks[0].Type
		if len(m.Content.uses()) == 0 || found == "thinking" || found == "redacted_thinking" {
			return nil
		}
		return complain("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.", i, found)
	}
	return nil
}

func (q *anthropicRequest) tools() *complaint {
	for i, t := range q.Tools {
		switch {
		case !anthropicTool.MatchString(t.Name):
			return complain("tools.%d.custom.name: String should match pattern '%s'", i, anthropicTool)
		case (t.Type == "" || t.Type == "custom") && !isObject(t.Schema):
			return complain("tools.%d.custom.input_schema: Field required", i)
		}
	}
	return nil
}
