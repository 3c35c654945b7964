package responses

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// codex is a request as Codex writes it, shortened.
const codex = `{
	"model": "gpt-5.2-codex", "stream": true, "store": false, "instructions": "You are Codex.",
	"include": ["reasoning.encrypted_content"], "reasoning": {"effort": "medium", "summary": "auto"},
	"prompt_cache_key": "5e55", "client_metadata": {"x-codex-installation-id": "i"}, "parallel_tool_calls": false,
	"tool_choice": "auto", "text": {"verbosity": "low"}, "service_tier": null,
	"tools": [
		{"type": "function", "name": "shell", "description": "Runs it", "strict": false, "parameters": {"type": "object"}},
		{"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
		{"type": "web_search", "external_web_access": false},
		{"type": "namespace", "name": "agents", "description": "Sub-agents", "tools": [{"type": "function", "name": "close_agent"}]}
	],
	"input": [
		{"type": "message", "role": "developer", "id": "msg_1", "content": [{"type": "input_text", "text": "Be brief."}]},
		{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "data:image/png;base64,eA=="}]},
		{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}], "content": null, "encrypted_content": "c2ln"},
		{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "See."}]},
		{"type": "function_call", "call_id": "call_1", "name": "shell", "arguments": "{\"a\":1}"},
		{"type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "- a"},
		{"type": "local_shell_call", "call_id": "call_3", "action": {"type": "exec"}},
		{"type": "web_search_call", "id": "ws_1", "status": "completed"},
		{"type": "function_call_output", "call_id": "call_1", "output": "Error: none"},
		{"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "ok"}, {"type": "input_image", "image_url": "data:image/png;base64,eA=="}]},
		{"role": "user", "content": "and?"}
	]
}`

func TestDecodeCodex(t *testing.T) {
	got, err := Decode([]byte(codex))
	if err != nil {
		t.Fatal(err)
	}
	call := func(id, name, args string) llm.Part {
		return llm.Part{Call: &llm.ToolCall{ID: id, Name: name, Args: []byte(args)}}
	}
	picture := llm.Part{Image: &llm.Image{MediaType: "image/png", Data: []byte("x")}}
	want := wire.Asked{
		Model: "gpt-5.2-codex", Stream: true, Usage: true, Session: "5e55",
		LeftOut: []string{
			"one tool call at a time (parallel_tool_calls)",
			"how much is to be said (text.verbosity)",
			"what a provider's tool did (web_search_call, input[7])",
			"the tool apply_patch, which takes any text (tools[1])",
			"the provider's tool web_search (tools[2])",
			"the group of tools agents (tools[3])",
		},
		Request: llm.Request{
			System: "You are Codex.\n\nBe brief.", ReasoningEffort: "medium",
			Tools: []llm.Tool{{Name: "shell", Description: "Runs it", Schema: []byte(`{"type": "object"}`)}},
			Messages: []llm.Message{
				{Role: llm.RoleUser, Parts: []llm.Part{{Text: "hi"}, picture}},
				{Role: llm.RoleAssistant, Parts: []llm.Part{
					{Thinking: &llm.Thinking{Text: "a\n\nb", Signature: Sign("rs_1", "c2ln")}},
					{Text: "See."},
					call("call_1", "shell", `{"a":1}`), call("call_2", "apply_patch", `{"input":"- a"}`), call("call_3", "local_shell", `{"type": "exec"}`),
				}},
				{Role: llm.RoleTool, Parts: []llm.Part{
					{Result: &llm.ToolResult{CallID: "call_1", Name: "shell", Text: "none", IsError: true}},
					{Result: &llm.ToolResult{CallID: "call_2", Name: "apply_patch", Text: "ok"}},
					picture,
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
		{`"background":false,"top_logprobs":0,"truncation":"disabled","text":{"format":{"type":"text"}},"metadata":{},"parallel_tool_calls":true`, "", "", ""},
		{`"previous_response_id":"resp_1"`, "", "a conversation that the provider keeps (previous_response_id)", "a conversation that the provider keeps (previous_response_id)"},
		{`"text":{"format":{"type":"json_object"}}`, "", `a form of the answer of type "json_object" (text.format)`, `a form of the answer of type "json_object" (text.format)`},
		{`"text":{"format":{"type":"json_schema","name":"a","schema":{}}}`, "", "", "the form of the answer (text.format)"},
		{`"tool_choice":{"type":"function","name":"a"}`, "", "", "a tool that has to be called (tool_choice)"},
		{`"tool_choice":{"type":"web_search"},"tools":[{"type":"web_search"}]`, "", `a choice of tools of type "web_search" (tool_choice); the provider's tool web_search (tools[0])`, "a tool that has to be called (tool_choice)"},
		{`"input":[{"type":"item_reference","id":"msg_1"}]`, "", "a part of the conversation that only the provider can read (input[0])", "a part of the conversation that only the provider can read (input[0])"},
		{`"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]`, "", `a part of type "input_file" (input[0].content[0])`, ""},
		{`"include":["web_search_call.action.sources"]`, "what the answer is to have beside the usual (include[0])", "", ""},
		{`"brand_new":1`, `what "brand_new" asks for`, "", ""},
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
		`{"input":5}`:                                  "input is not a list",
		`{"input":[{"role":"bot"}]}`:                   `input[0].role is "bot", which is nobody's`,
		`{"input":[{"type":"reasoning","summary":1}]}`: "input[0].summary is a number, and not a list",
		`{"reasoning":{"effort":1}}`:                   "reasoning.effort is a number, and not a text",
	} {
		_, err := Decode([]byte(text))
		if bad := (*wire.RequestError)(nil); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}
