package openai

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/wire"

	"github.com/mulligan-run/mulligan/internal/golden"
	"github.com/mulligan-run/mulligan/llm"
)

func conversation() []llm.Message {
	call := func(id, city string) llm.Part {
		return llm.Part{Call: &llm.ToolCall{ID: id, Name: "weather", Args: json.RawMessage(`{"city":"` + city + `"}`)}}
	}
	result := func(id, text string, failed bool) llm.Part {
		return llm.Part{Result: &llm.ToolResult{CallID: id, Name: "weather", Text: text, IsError: failed}}
	}
	return []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{{Text: "How warm is <this> place & Köln?"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}}}},
		{Role: llm.RoleAssistant, Model: "openai/m-1", Parts: []llm.Part{
			{Thinking: &llm.Thinking{Text: "two calls", Signature: "c2ln"}},
			{Thinking: &llm.Thinking{Redacted: "cmVk"}},
			{Text: "Let me see."},
			call("toolu_1", "Köln"), call("toolu_2", "Bonn"),
		}},
		{Role: llm.RoleTool, Parts: []llm.Part{result("toolu_1", "14 °C", false)}},
		{Role: llm.RoleTool, Parts: []llm.Part{result("toolu_2", "no such place", true)}},
		{Role: llm.RoleAssistant, Model: "other/m-2", Parts: []llm.Part{
			{Thinking: &llm.Thinking{Text: "foreign", Signature: "x"}}, {Text: "Once more."}, call("call|fc_9", "Bonn"),
		}},
		llm.User("Never mind."),
		llm.User("Thanks."),
	}
}

func TestGolden(t *testing.T) {
	for name, request := range map[string]llm.Request{
		"plain": {Messages: []llm.Message{llm.User("hi")}},
		"full": {
			System: "Be brief.", Messages: conversation(), MaxOutputTokens: 1000, ReasoningEffort: "low",
			Tools: []llm.Tool{
				{Name: "weather", Description: "How warm it is", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)},
				{Name: "anything"},
			},
		},
	} {
		request.Model = "openai/m-1"
		got, _, err := Encode(wire.Target{Model: "m-1", Own: true}, request)
		if err != nil {
			t.Fatal(err)
		}
		golden.JSON(t, filepath.Join("testdata", name+".json"), got)
	}
}
