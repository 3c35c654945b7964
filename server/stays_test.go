package server

import (
	"testing"

	"github.com/mulligan-run/mulligan/config"
)

// TestStays is S38: what is told to a model stays on this machine only where nothing there passes
// it on.
func TestStays(t *testing.T) {
	models, err := NewModels(&config.Config{State: t.TempDir(), Providers: map[string]config.Provider{
		"own":     {Type: "openai", BaseURL: "http://127.0.0.1:9000/v1", Local: true},
		"unknown": {Type: "openai", BaseURL: "http://127.0.0.1:9000/v1"},
		"away":    {Type: "openai", BaseURL: "https://models.example/v1", Local: true},
		"far":     {Type: "ollama", BaseURL: "https://ollama.example/v1"},
		"through": {Type: "ollama", Proxy: "http://proxy.example:3128"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	for model, want := range map[string]bool{
		"ollama/qwen": true, "vllm/qwen": true, "lmstudio/qwen": true, "own/qwen": true, DemoFable: true,
		"unknown/qwen": false, "away/qwen": false, "far/qwen": false, "through/qwen": false,
		"litellm/gpt-5.2": false, "anthropic/claude": false, "openai/gpt-5.2": false, "nobody/m": false, "ollama": true,
	} {
		if got := models.stays(model); got != want {
			t.Errorf("%s stays: %v", model, got)
		}
	}
}
