package gemini

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// asked is a request as people write it by hand: names with underscores, the older form of
// schemas, calls without ids.
const asked = `{
	"system_instruction": {"parts": [{"text": "Be brief."}, {"text": "And kind."}]},
	"generation_config": {"max_output_tokens": 900, "top_p": 0.5, "thinking_config": {"thinking_budget": 9000}, "candidateCount": 1, "topK": 40},
	"tool_config": {"function_calling_config": {"mode": "AUTO"}},
	"safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
	"tools": [
		{"function_declarations": [{"name": "ls", "parameters": {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}}}]},
		{"google_search": {}}
	],
	"contents": [
		{"role": "user", "parts": [{"text": "hi"}, {"inline_data": {"mime_type": "image/png", "data": "eA=="}}]},
		{"role": "model", "parts": [
			{"text": "hm", "thought": true},
			{"text": "See.", "thoughtSignature": "c2ln"},
			{"functionCall": {"name": "ls", "args": {"a": 1}}, "thoughtSignature": "skip_thought_signature_validator"},
			{"functionCall": {"name": "ls", "args": {"a": 2}}, "thoughtSignature": "c2ln"},
			{"executableCode": {"language": "PYTHON", "code": "1"}}
		]},
		{"role": "user", "parts": [
			{"functionResponse": {"name": "ls", "response": {"output": "one"}}},
			{"functionResponse": {"name": "ls", "response": {"error": "none"}}},
			{"functionResponse": {"name": "ls", "response": {"a": 1}}},
			{"text": "and?"}
		]}
	]
}`

func TestDecode(t *testing.T) {
	got, err := Decode([]byte(asked))
	if err != nil {
		t.Fatal(err)
	}
	result := func(id, name, text string, failed bool) llm.Part {
		return llm.Part{Result: &llm.ToolResult{CallID: id, Name: name, Text: text, IsError: failed}}
	}
	want := wire.Asked{
		Usage: true,
		LeftOut: []string{
			"the choice among few words (generationConfig.topK)",
			"what the provider is to filter (safetySettings)",
			"what the provider's execution of code did (contents[1].parts[4])",
			"the provider's tool googleSearch (tools[1])",
		},
		Request: llm.Request{
			System: "Be brief.\n\nAnd kind.", MaxOutputTokens: 900, ReasoningEffort: "medium", TopP: new(0.5),
			Tools: []llm.Tool{{Name: "ls", Schema: []byte(`{"properties":{"type":{"type":"string"}},"type":"object"}`)}},
			Messages: []llm.Message{
				{Role: llm.RoleUser, Parts: []llm.Part{{Text: "hi"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("x")}}}},
				{Role: llm.RoleAssistant, Parts: []llm.Part{
					{Thinking: &llm.Thinking{Text: "hm"}},
					{Text: "See."},
					{Thinking: &llm.Thinking{Signature: "c2ln"}},
					{Call: &llm.ToolCall{ID: "call_1", Name: "ls", Args: []byte(`{"a": 1}`)}},
					{Call: &llm.ToolCall{ID: "call_2", Name: "ls", Args: []byte(`{"a": 2}`), Signature: "c2ln"}},
				}},
				{Role: llm.RoleTool, Parts: []llm.Part{
					result("call_1", "ls", "one", false), result("call_2", "ls", "none", true), result("", "", `{"a": 1}`, false),
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
		{`"generationConfig":{"candidateCount":1,"responseMimeType":"text/plain","stopSequences":[]},"labels":{}`, "", "", ""},
		{`"generationConfig":{"stopSequences":["x"]}`, "", "the words at which the answer is to stop (generationConfig.stopSequences)", "the words at which the answer is to stop (generationConfig.stopSequences)"},
		{`"generationConfig":{"responseMimeType":"application/json"}`, "", `a form of the answer of type "application/json" (generationConfig.responseMimeType)`, `a form of the answer of type "application/json" (generationConfig.responseMimeType)`},
		{`"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT"}}`, "", "", "the form of the answer (generationConfig.responseJsonSchema)"},
		{`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a","b"]}}`, "", "a choice among some of the tools (toolConfig)", "a tool that has to be called (toolConfig)"},
		{`"tools":[{"googleSearch":{}}]`, "", "the provider's tool googleSearch (tools[0])", ""},
		{`"cachedContent":"c"`, "", "a part of the conversation that the provider keeps (cachedContent)", "a part of the conversation that the provider keeps (cachedContent)"},
		{`"contents":[{"parts":[{"fileData":{"fileUri":"x"}}]}]`, "", "a file that the provider keeps or is to fetch (contents[0].parts[0].fileData)", ""},
		{`"contents":[{"parts":[{"inlineData":{"mimeType":"audio/wav","data":"eA=="}}]}]`, "", `a part of type "audio/wav" (contents[0].parts[0].inlineData)`, ""},
		{`"generationConfig":{"brandNew":1}`, `what "generationConfig.brandNew" asks for`, "", ""},
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
		`{"contents":5}`: "contents is not a list",
		`{"contents":[{"role":"bot","parts":[]}]}`:                   `contents[0].role is "bot", and neither user nor model`,
		`{"contents":[{"parts":[{"text":1}]}]}`:                      "contents[0].parts[0].text is a number, and not a text",
		`{"generationConfig":{"max_output_tokens":""}}`:              "generationConfig.maxOutputTokens is a text, and not a whole number",
		`{"generationConfig":[]}`:                                    "generationConfig is not an object",
		`{"tools":[1]}`:                                              "tools[0] is not an object",
		`{"system_instruction":{"parts":[]},"systemInstruction":{}}`: "systemInstruction is there twice",
	} {
		_, err := Decode([]byte(text))
		if bad := (*wire.RequestError)(nil); !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}
