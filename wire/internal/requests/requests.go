package requests

import (
	"encoding/json"

	"github.com/mulligan-run/mulligan/llm"
)

// Conversation has every kind of part, from model, which makes two calls in one answer, and from
// another model with reasoning that model must not see.
func Conversation(model string) []llm.Message {
	call := func(id, city string) llm.Part {
		return llm.Part{Call: &llm.ToolCall{ID: id, Name: "weather", Args: json.RawMessage(`{"city":"` + city + `"}`)}}
	}
	result := func(id, text string, failed bool) llm.Part {
		return llm.Part{Result: &llm.ToolResult{CallID: id, Name: "weather", Text: text, IsError: failed}}
	}
	return []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{{Text: "How warm is <this> place & Köln?"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}}}},
		{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{
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

// Full is a request with these messages that uses every field.
func Full(messages []llm.Message) llm.Request {
	return llm.Request{
		System: "Be brief.", Messages: messages, MaxOutputTokens: 1000, ReasoningEffort: "low",
		Tools: []llm.Tool{
			{Name: "weather", Description: "How warm it is", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)},
			{Name: "anything"},
		},
	}
}
