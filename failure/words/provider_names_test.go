package words

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The terminal calls a provider by the same name as the page, whose names come from the TypeScript
// client.
func TestProviderNamesOfTheClients(t *testing.T) {
	source, err := os.ReadFile("../../sdk/typescript/client/src/names.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "const providers")
	table, _, _ = strings.Cut(table, "\n};")
	there := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^ +'?([^ ':]+)'?: \[(.+)\],$`).FindAllStringSubmatch(table, -1) {
		there[row[1]] = row[2]
	}
	for entry, known := range knownProviders {
		want := fmt.Sprintf("'%s'", known.name)
		if known.statusURL != "" {
			want += fmt.Sprintf(", '%s'", known.statusURL)
		}
		if there[entry] != want {
			t.Errorf("names.ts has %q for %s, not %q: change both", there[entry], entry, want)
		}
		delete(there, entry)
	}
	for entry := range there {
		t.Errorf("names.ts alone knows %s", entry)
	}
}

func TestProviderNames(t *testing.T) {
	for entry, want := range map[string]string{
		"openai": "OpenAI", "openai-responses": "OpenAI", "openai-work": "OpenAI", "OpenAI_home": "OpenAI", "openai-work-2": "OpenAI",
		"anthropic": "Anthropic", "anthropic-home": "Anthropic", "gemini": "Gemini", "openrouter": "OpenRouter", "litellm": "LiteLLM",
		"ollama": "Ollama", "vllm": "vLLM", "llama.cpp": "llama.cpp", "llamacpp": "llama.cpp", "lmstudio": "LM Studio", "groq": "Groq",
		"mistral": "Mistral", "deepseek": "DeepSeek", "azure": "Azure OpenAI", "azure-openai": "Azure OpenAI", "bedrock": "Amazon Bedrock",
		"vertex": "Vertex AI", "vertex-anthropic": "Vertex AI", "google-vertex": "Vertex AI", "z.ai": "Z.ai", "zai": "Z.ai", "kimi": "Kimi",
		"moonshot": "Moonshot AI", "minimax": "MiniMax", "qwen": "Qwen", "together": "Together AI", "fireworks": "Fireworks", "xai": "xAI",
		"x.ai": "xAI", "cerebras": "Cerebras", "perplexity": "Perplexity", "cohere": "Cohere", "huggingface": "Hugging Face",
		"github-copilot": "GitHub Copilot", "copilot": "GitHub Copilot", "poe": "Poe",
		"work": "work", "my-openai": "my-openai", "openaiwork": "openaiwork", "poetry": "poetry", "": "", "-": "-",
	} {
		if got := ProviderName(entry); got != want {
			t.Errorf("%q is called %q, want %q", entry, got, want)
		}
	}
	for entry := range knownProviders {
		page := StatusURL(entry + "-work")
		if u, err := url.Parse(page); page != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.RawQuery != "") {
			t.Errorf("the status page of %s is no address: %s", entry, page)
		}
	}
	if StatusURL("openai-work") != StatusURL("openai") || StatusURL("ollama") != "" || StatusURL("work") != "" {
		t.Error("the status page is the provider's, and only a provider's")
	}
}
