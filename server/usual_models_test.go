package server

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// TestUsualModels has what a run asks that names no model, by the keys that are set.
func TestUsualModels(t *testing.T) {
	for _, known := range provider.Known() {
		if known.KeyEnv != "" {
			t.Setenv(known.KeyEnv, "")
		}
	}
	if err := chosen(t, ""); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY") {
		t.Errorf("without a key, with none but local providers: %v", err)
	}
	for i := len(usualModels) - 1; i >= 0; i-- { // the earlier ones come first
		t.Setenv(usualModels[i].key, "k")
		if err := chosen(t, usualModels[i].model); err != nil {
			t.Error(err)
		}
	}
}

func chosen(t *testing.T, want string) error {
	t.Helper()
	c := &config.Config{}
	models, err := NewModels(c)
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	if err := models.Choose(c); err != nil {
		return err
	}
	if c.Model != want {
		t.Errorf("%s was chosen, not %s", c.Model, want)
	}
	return nil
}

func TestProviderTypes(t *testing.T) {
	c, err := config.Parse([]byte("providers:\n  gpu: {type: ollama, base_url: http://127.0.0.1:7777/v1, models: {qwen: {images: false, tools: false, json_schema: false, prefill: true, context_tokens: 5}, claude-sonnet-4-5: {prefill: false}}}\n  openrouter: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	models, err := NewModels(c)
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	all := llm.Capabilities{ContextTokens: 5, NoImages: true, NoTools: true, NoSchema: true, Prefill: true, Local: true}
	for name, want := range map[string]llm.Capabilities{
		"gpu/qwen": all, "gpu/other": {Local: true}, "gpu/claude-sonnet-4-5": {ContextTokens: 200_000, Local: true},
		"gpu/claude-opus-4-5": {ContextTokens: 200_000, Prefill: true, Local: true},
	} {
		if got := models.Capabilities(name); !models.Has(name) || got != want {
			t.Errorf("%s is not as it was described, but %+v", name, got)
		}
	}
}
