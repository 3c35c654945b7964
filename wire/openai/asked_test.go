package openai

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

const asked = `{
	"model": "gpt-5.2", "stream": true, "stream_options": {"include_usage": true},
	"max_completion_tokens": 900, "max_tokens": 1000, "reasoning_effort": "minimal", "user": "u", "prompt_cache_key": "5e55",
	"tools": [
		{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}, "strict": true}},
		{"type": "custom", "custom": {"name": "patch"}}
	],
	"messages": [
		{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
		{"role": "system", "content": "And kind."},
		{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA==", "detail": "low"}}]},
		{"role": "assistant", "content": null, "tool_calls": [
			{"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{\"a\":1}"}},
			{"id": "call_2", "type": "function", "function": {"name": "ls", "arguments": "not json"}},
			{"id": "call_3", "type": "custom", "custom": {"name": "patch", "input": "- a"}}
		]},
		{"role": "tool", "tool_call_id": "call_1", "content": "Error: none"},
		{"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "ok"}]},
		{"role": "system", "content": "Hurry."}
	]
}`

func TestDecode(t *testing.T) {
	got, err := Decode([]byte(asked))
	if err != nil {
		t.Fatal(err)
	}
	call := func(id, name, args string) llm.Part {
		return llm.Part{Call: &llm.ToolCall{ID: id, Name: name, Args: []byte(args)}}
	}
	want := wire.Asked{
		Model: "gpt-5.2", Stream: true, Usage: true, Session: "5e55",
		LeftOut: []string{
			"that tools are called by their schemas to the letter (tools.function.strict)",
			"that a message is the system's (messages[6])",
			`a tool of type "custom" (tools[1])`,
		},
		Request: llm.Request{
			System: "Be brief.\n\nAnd kind.", MaxOutputTokens: 900, ReasoningEffort: "low",
			Tools: []llm.Tool{{Name: "ls", Schema: []byte(`{"type": "object"}`)}},
			Messages: []llm.Message{
				{Role: llm.RoleUser, Parts: []llm.Part{{Text: "hi"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("x")}}}},
				{Role: llm.RoleAssistant, Parts: []llm.Part{call("call_1", "ls", `{"a":1}`), call("call_2", "ls", `{"input":"not json"}`), call("call_3", "patch", `{"input":"- a"}`)}},
				{Role: llm.RoleTool, Parts: []llm.Part{{Result: &llm.ToolResult{CallID: "call_1", Name: "ls", Text: "none", IsError: true}}}},
				{Role: llm.RoleTool, Parts: []llm.Part{{Result: &llm.ToolResult{CallID: "call_2", Name: "ls", Text: "ok"}}}},
				llm.User("Hurry."),
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
		{`"seed":5`, "the seed (seed)", "", ""},
		{`"n":1,"logprobs":false,"presence_penalty":0,"store":true,"metadata":{},"modalities":["text"],"parallel_tool_calls":true,"response_format":{"type":"text"},"stop":null`, "", "", ""},
		{`"n":3`, "", "3 answers at once (n)", "3 answers at once (n)"},
		{`"stop":"x"`, "", "the words at which the answer is to stop (stop)", "the words at which the answer is to stop (stop)"},
		{`"response_format":{"type":"json_object"}`, "", `a form of the answer of type "json_object" (response_format)`, `a form of the answer of type "json_object" (response_format)`},
		{`"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}}`, "", "", "the form of the answer (response_format)"},
		{`"tool_choice":"required"`, "", "", "a tool that has to be called (tool_choice)"},
		{`"tool_choice":{"type":"function","function":{"name":"a"}}`, "", "", "a tool that has to be called (tool_choice)"},
		{`"tool_choice":{"type":"allowed_tools"}`, "", `a choice of tools of type "allowed_tools" (tool_choice)`, "a tool that has to be called (tool_choice)"},
		{`"modalities":["text","audio"],"audio":{}`, "", "an answer that is not text (modalities[1]); an answer that is spoken (audio)", "an answer that is not text (modalities[1]); an answer that is spoken (audio)"},
		{`"parallel_tool_calls":false`, "one tool call at a time (parallel_tool_calls)", "", ""},
		{`"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}]`, "", `a part of type "input_audio" (messages[0].content[0])`, ""},
		{`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/a.png"}}]}]`, "", "a picture that the provider is to fetch (messages[0].content[0])", ""},
		{`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,*"}}]}]`, "", "a picture that cannot be read (messages[0].content[0])", ""},
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
		`{"max_tokens":"9"}`:                          "max_tokens is a text, and not a whole number",
		`{"stop":5}`:                                  "stop is neither a text nor a list",
		`{"messages":[{"role":"bot"}]}`:               `messages[0].role is "bot", which is nobody's`,
		`{"messages":[{"role":"user","content":{}}]}`: "messages[0].content is not a list",
		`{"messages":[{"role":"assistant","tool_calls":[{"id":1}]}]}`: "messages[0].tool_calls.id is a number, and not a text",
		`{"tool_choice":[]}`: "tool_choice is a list, and not an object",
	} {
		_, err := Decode([]byte(text))
		if bad := (*wire.RequestError)(nil); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}
