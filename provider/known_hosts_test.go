package provider_test

import (
	"testing"

	"github.com/mulligan-run/mulligan/provider"
)

func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"getaddrinfo ENOTFOUND api.anthropic.com":                        "anthropic",
		`Post "https://api.openai.com/v1/responses": connection refused`: "openai",
		"lookup generativelanguage.googleapis.com: no such host":         "gemini",
		"https://openrouter.ai/api/v1/chat/completions: timeout":         "openrouter",
		"connect ECONNREFUSED 127.0.0.1:11434":                           "",
		"timed out":                                                      "",
	} {
		if got := provider.Named(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
