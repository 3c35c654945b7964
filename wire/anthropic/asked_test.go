package anthropic

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// claudeCode is a request as Claude Code writes it, shortened.
const claudeCode = `{
	"model": "claude-opus-4-5", "max_tokens": 32000, "stream": true,
	"thinking": {"type": "enabled", "budget_tokens": 16384, "display": "summarized"},
	"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
	"metadata": {"user_id": "{\"device_id\":\"d\",\"account_uuid\":\"\",\"session_id\":\"5e55\"}"},
	"system": [
		{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.330; cc_entrypoint=cli"},
		{"type": "text", "text": "You are Claude Code.", "cache_control": {"type": "ephemeral"}},
		{"type": "text", "text": "Be brief."}
	],
	"tools": [
		{"name": "Bash", "description": "Runs it", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}},
		{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}
	],
	"messages": [
		{"role": "user", "content": "hi"},
		{"role": "assistant", "content": [
			{"type": "thinking", "thinking": "hm", "signature": "c2ln"},
			{"type": "text", "text": "See."},
			{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
			{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
			{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
		]},
		{"role": "user", "content": [
			{"type": "text", "text": "and?"},
			{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": [
				{"type": "text", "text": "no such"}, {"type": "text", "text": "file"},
				{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
			], "cache_control": {"type": "ephemeral"}}
		]}
	]
}`

func TestDecodeClaudeCode(t *testing.T) {
	got, err := Decode([]byte(claudeCode))
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Asked{
		Model: "claude-opus-4-5", Stream: true, Usage: true, Session: "5e55",
		LeftOut: []string{
			"the provider's care of a long conversation (context_management)",
			"what the provider's tool web_search was called for (messages[1].content[3])",
			"what a provider's tool gave back (messages[1].content[4])",
			"the provider's tool web_search_20250305 (tools[1])",
		},
		Request: llm.Request{
			System: "You are Claude Code.\n\nBe brief.", MaxOutputTokens: 32000 - 16384, ReasoningEffort: "high",
			Tools: []llm.Tool{{Name: "Bash", Description: "Runs it", Schema: []byte(`{"type": "object", "properties": {"command": {"type": "string"}}}`)}},
			Messages: []llm.Message{
				llm.User("hi"),
				{Role: llm.RoleAssistant, Parts: []llm.Part{
					{Thinking: &llm.Thinking{Text: "hm", Signature: "c2ln"}},
					{Text: "See."},
					{Call: &llm.ToolCall{ID: "toolu_1", Name: "Bash", Args: []byte(`{"command": "ls"}`)}},
				}},
				{Role: llm.RoleTool, Parts: []llm.Part{
					{Result: &llm.ToolResult{CallID: "toolu_1", Name: "Bash", Text: "no such\nfile", IsError: true}},
					{Image: &llm.Image{MediaType: "image/png", Data: []byte("x")}},
				}},
				llm.User("and?"),
			},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nnot\n%s", wire.Append(nil, got), wire.Append(nil, want))
	}
}

// TestDecodeNotes: what a request asks for beside its conversation.
func TestDecodeNotes(t *testing.T) {
	for _, c := range []struct{ body, left, bound, whole string }{
		{`"top_k":5`, "the choice among few words (top_k)", "", ""},
		{`"cache_control":{"type":"ephemeral"},"service_tier":"auto","container":null`, "", "", ""},
		{`"new_thing":{}`, `what "new_thing" asks for`, "", ""},
		{`"stop_sequences":["x"]`, "", "the words at which the answer is to stop (stop_sequences)", "the words at which the answer is to stop (stop_sequences)"},
		{`"stop_sequences":[]`, "", "", ""},
		{`"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`, "one tool call at a time (tool_choice.disable_parallel_tool_use)", "", ""},
		{`"tool_choice":{"type":"any"}`, "", "", "a tool that has to be called (tool_choice)"},
		{`"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`, "", "", "the form of the answer (output_config.format)"},
		{`"tools":[{"type":"web_search_20250305","name":"web_search"}]`, "", "the provider's tool web_search_20250305 (tools[0])", ""},
		{`"mcp_servers":[{"type":"url","url":"https://x"}],"tools":[{"name":"a"}]`, "tools of an MCP server that the provider asks (mcp_servers[0])", "", ""},
		{`"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]`, "", "a picture that the provider is to fetch (messages[0].content[0])", ""},
		{`"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","data":"eA=="}}]}]`, "", "a document that is not text (messages[0].content[0])", ""},
		{`"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"tool_use"}]}]}]`, "", `a block of type "tool_use" (messages[0].content[0].content[0])`, ""},
	} {
		got, err := Decode([]byte("{" + c.body + "}"))
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		for name, pair := range map[string][2]string{
			"left out": {strings.Join(got.LeftOut, "; "), c.left}, "bound": {strings.Join(got.Bound, "; "), c.bound}, "whole": {strings.Join(got.Whole, "; "), c.whole},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %s %q, not %q", c.body, name, pair[0], pair[1])
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"model":1}`:                                   "model is a number, and not a text",
		`{"max_tokens":1.5}`:                            "max_tokens is the number 1.5, and not a whole number",
		`{"stream":"yes"}`:                              "stream is a text, and not true or false",
		`{"messages":{}}`:                               "messages is not a list",
		`{"messages":[1]}`:                              "messages[0] is a number, and not an object",
		`{"messages":[{"role":"bot"}]}`:                 `messages[0].role is "bot", and neither user nor assistant`,
		`{"messages":[{"role":"user","content":4}]}`:    "messages[0].content is not a list",
		`{"messages":[{"role":"user","content":[[]]}]}`: "messages[0].content[0] is a list, and not an object",
		`{"messages":[{"role":"user","content":[{"type":"text","text":7}]}]}`: "messages[0].content[0].text is a number, and not a text",
		`{"model":"a","model":"b"}`: "model is there twice",
		`{"tools":[{"name":{}}]}`:   "tools[0].name is an object, and not a text",
		`[]`:                        "the request is not a JSON object",
	} {
		_, err := Decode([]byte(text))
		if bad := (*wire.RequestError)(nil); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}
