package faultlab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
)

type openaiRequest struct {
	Model         string      `json:"model"`
	Stream        bool        `json:"stream"`
	Messages      []openaiMsg `json:"messages"`
	Tools         []openaiDef `json:"tools"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type openaiMsg struct {
	Role       string      `json:"role"`
	Content    content     `json:"content"`
	ToolCallID string      `json:"tool_call_id"`
	ToolCalls  []openaiUse `json:"tool_calls"`
}

type openaiUse struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

type openaiDef struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

func checkOpenAI(in query) (ask, *wire.Report) {
	var q openaiRequest
	if err := json.Unmarshal(in.body, &q); err != nil {
		return ask{}, openaiInvalid(400, "We could not parse the JSON body of your request: "+err.Error())
	}
	a := in.ask()
	if c := first(q.head, q.each, q.pairs, q.tools); c != nil {
		return a, &wire.Report{Status: 400, Type: "invalid_request_error", Code: c.code, Param: c.param, Message: c.message}
	}
	return a, nil
}

func (q *openaiRequest) head() *complaint {
	switch {
	case q.Model == "":
		return complain("you must provide a model parameter")
	case len(q.Model) > maxModelName:
		return &complaint{"model", "string_above_max_length", "Invalid 'model': string too long."}
	case len(q.Messages) == 0:
		return &complaint{"messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."}
	case q.StreamOptions != nil && !q.Stream:
		return &complaint{"stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled."}
	}
	return nil
}

// each checks the messages one by one.
func (q *openaiRequest) each() *complaint {
	for i, m := range q.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return &complaint{at + ".role", "invalid_value", fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'developer', 'assistant', 'user', and 'tool'.", m.Role)}
		}
		if !m.Content.present && len(m.ToolCalls) == 0 {
			return &complaint{at + ".content", "", "Invalid value for 'content': expected a string, got null."}
		}
		if m.Role != "assistant" && len(m.ToolCalls) > 0 {
			return &complaint{at + ".tool_calls", "", "Only messages with role 'assistant' may have 'tool_calls'."}
		}
		if c := m.checkCalls(at); c != nil {
			return c
		}
	}
	return nil
}

func (m openaiMsg) checkCalls(at string) *complaint {
	seen := map[string]bool{}
	for j, u := range m.ToolCalls {
		at := fmt.Sprintf("%s.tool_calls[%d]", at, j)
		switch {
		case u.ID == "" || seen[u.ID]:
			return &complaint{at + ".id", "invalid_value", fmt.Sprintf("Invalid '%s.id': empty or duplicate id.", at)}
		case len(u.ID) > openaiMaxID:
			return &complaint{at + ".id", "string_above_max_length", fmt.Sprintf("Invalid '%s.id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", at, openaiMaxID, len(u.ID))}
		case u.Type != "function":
			return &complaint{at + ".type", "invalid_value", fmt.Sprintf("Invalid value for '%s.type': expected 'function'.", at)}
		case !openaiTool.MatchString(u.Function.Name):
			return &complaint{at + ".function.name", "invalid_value", fmt.Sprintf("Invalid '%s.function.name': expected a string that matches the pattern '%s'.", at, openaiTool)}
		case u.Function.Arguments == nil:
			return &complaint{at + ".function.arguments", "missing_required_parameter", fmt.Sprintf("Missing required parameter: '%s.function.arguments'.", at)}
		}
		seen[u.ID] = true
	}
	return nil
}

// pairs demands that exactly the tool calls of an assistant are answered, once each, by the tool
// messages after it, before anything else is said.
func (q *openaiRequest) pairs() *complaint {
	var calls, open []string
	for i, m := range q.Messages {
		if m.Role == "tool" {
			if c := m.answers(i, calls, open); c != nil {
				return c
			}
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.ToolCallID })
			continue
		}
		if len(open) > 0 {
			return openCalls(i, open)
		}
		calls = nil
		for _, u := range m.ToolCalls {
			calls = append(calls, u.ID)
		}
		open = slices.Clone(calls)
	}
	if len(open) > 0 {
		return openCalls(len(q.Messages), open)
	}
	return nil
}

// answers checks a tool message against the calls before it.
func (m openaiMsg) answers(i int, calls, open []string) *complaint {
	at := fmt.Sprintf("messages.[%d]", i)
	switch {
	case len(calls) == 0:
		return &complaint{at + ".role", "", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."}
	case !slices.Contains(calls, m.ToolCallID):
		return &complaint{at + ".tool_call_id", "", fmt.Sprintf("Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", m.ToolCallID)}
	case !slices.Contains(open, m.ToolCallID):
		return &complaint{at + ".tool_call_id", "", fmt.Sprintf("Invalid parameter: duplicate 'tool_call_id' of '%s'.", m.ToolCallID)}
	}
	return nil
}

func openCalls(i int, ids []string) *complaint {
	return &complaint{
		fmt.Sprintf("messages.[%d].role", i), "",
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: " + strings.Join(ids, ", "),
	}
}

func (q *openaiRequest) tools() *complaint {
	for i, t := range q.Tools {
		if t.Type == "function" && !openaiTool.MatchString(t.Function.Name) {
			return &complaint{fmt.Sprintf("tools[%d].function.name", i), "invalid_value", fmt.Sprintf("Invalid 'tools[%d].function.name': expected a string that matches the pattern '%s'.", i, openaiTool)}
		}
	}
	return nil
}
