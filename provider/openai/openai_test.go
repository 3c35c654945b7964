package openai

import (
	"bytes"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

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
