package gemini

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/golden"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// conversation has every kind of part: of one model, which answers with two calls at
// once and later signs a text, and of another.
func conversation(model string) []llm.Message {
	call := func(id, city, signature string) llm.Part {
		return llm.Part{Call: &llm.ToolCall{ID: id, Name: "weather", Args: json.RawMessage(`{"city":"` + city + `"}`), Signature: signature}}
	}
	result := func(id, text string, failed bool) llm.Part {
		return llm.Part{Result: &llm.ToolResult{CallID: id, Name: "weather", Text: text, IsError: failed}}
	}
	return []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{{Text: "How warm is <this> place & Köln?"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}}}},
		{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{
			{Thinking: &llm.Thinking{Text: "two calls"}},
			{Text: "Let me see."},
			call("x1", "Köln", "c2lnMQ=="), call("x2", "Bonn", ""),
		}},
		{Role: llm.RoleTool, Parts: []llm.Part{result("x1", "14 °C", false)}},
		{Role: llm.RoleTool, Parts: []llm.Part{result("x2", "no such place", true)}},
		{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{
			{Thinking: &llm.Thinking{Text: "an answer"}}, {Text: "14 °C."}, {Thinking: &llm.Thinking{Signature: "c2lnMg=="}},
		}},
		llm.User("And Bonn?"),
		{Role: llm.RoleAssistant, Model: "other/m-2", Parts: []llm.Part{
			{Thinking: &llm.Thinking{Text: "foreign", Signature: "x"}}, {Text: "Once more."}, call("call|fc_9", "Bonn", "eA=="), call("call|fc_10", "Bern", ""),
		}},
		llm.User("Never mind."),
		llm.User("Thanks."),
	}
}

func TestGolden(t *testing.T) {
	for name, model := range map[string]string{"plain": "gemini-3-flash", "gemini3": "gemini-3-flash", "gemini25": "gemini-2.5-flash"} {
		request := llm.Request{Messages: []llm.Message{llm.User("hi")}}
		if name != "plain" {
			request = llm.Request{
				System: "Be brief.", Messages: conversation("gemini/" + model), MaxOutputTokens: 1000, ReasoningEffort: "low",
				Tools: []llm.Tool{
					{Name: "weather", Description: "How warm it is", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"additionalProperties":false}`)},
					{Name: "anything"},
				},
			}
		}
		request.Model = "gemini/" + model
		got, _, err := Encode(wire.Target{Model: model}, request)
		if err != nil {
			t.Fatal(err)
		}
		golden.JSON(t, filepath.Join("testdata", name+".json"), got)
	}
}

// TestNothingEmpty: a turn of which nothing may be sent leaves no empty content.
func TestNothingEmpty(t *testing.T) {
	request := llm.Request{Model: "gemini/gemini-3-flash", Messages: []llm.Message{
		llm.User("q"),
		{Role: llm.RoleAssistant, Model: "gemini/gemini-3-flash", Parts: []llm.Part{{Thinking: &llm.Thinking{Redacted: "x"}}}},
		llm.User("r"),
	}}
	body, _, err := Encode(wire.Target{Model: "gemini-3-flash"}, request)
	if err != nil || strings.Contains(string(body), `"parts":[]`) || strings.Contains(string(body), "null") {
		t.Errorf("%v %s", err, body)
	}
}
