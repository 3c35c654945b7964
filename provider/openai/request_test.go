package openai

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/endpoint"
	"github.com/mulligan-run/mulligan/provider/internal/golden"
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
		got, _, err := encode(endpoint.Target{Model: "m-1", BaseURL: DefaultBaseURL}, request)
		if err != nil {
			t.Fatal(err)
		}
		golden.JSON(t, filepath.Join("testdata", name+".json"), got)
	}
}

func TestMaxTokens(t *testing.T) {
	request := llm.Request{Model: "openai/m-1", Messages: []llm.Message{llm.User("hi")}, MaxOutputTokens: 77}
	for base, want := range map[string]string{
		DefaultBaseURL:                            `"max_completion_tokens":77`,
		"https://eu.api.openai.com/v1":            `"max_completion_tokens":77`,
		"https://me.openai.azure.com/openai/v1":   `"max_completion_tokens":77`,
		"https://openrouter.ai/api/v1":            `"max_tokens":77`,
		"http://127.0.0.1:11434/v1":               `"max_tokens":77`,
		"https://notopenai.com/v1":                `"max_tokens":77`,
		"https://openai.com.example.org/openai/v": `"max_tokens":77`,
	} {
		m, err := New(Config{BaseURL: base, Key: func() (string, error) { return "k", nil }})
		if err != nil {
			t.Fatal(err)
		}
		asked, err := m.Ask(request)
		if err != nil || !bytes.Contains(asked.Body, []byte(want)) || bytes.Count(asked.Body, []byte("tokens")) != 1 {
			t.Errorf("%s: %v %s", base, err, asked.Body)
		}
	}
}
