package recovery

import "strings"

// knownProvider is how a provider is called among people, and where it says how it is.
type knownProvider struct {
	name      string
	statusURL string
}

// knownProviders is by the entry's name, in lower case.
var knownProviders = map[string]knownProvider{
	"anthropic":  {"Anthropic", "https://status.claude.com"},
	"openai":     {"OpenAI", "https://status.openai.com"},
	"gemini":     {"Gemini", "https://aistudio.google.com/status"},
	"google":     {"Google", "https://status.cloud.google.com"},
	"vertex":     {"Vertex AI", "https://status.cloud.google.com"},
	"openrouter": {"OpenRouter", "https://status.openrouter.ai"},
	"bedrock":    {"Amazon Bedrock", "https://health.aws.amazon.com/health/status"},
	"azure":      {"Azure OpenAI", "https://azure.status.microsoft/status"},
	"groq":       {"Groq", "https://groqstatus.com"},
	"mistral":    {"Mistral", "https://status.mistral.ai"},
	"deepseek":   {"DeepSeek", "https://status.deepseek.com"},
	"xai":        {"xAI", "https://status.x.ai"},
	"together":   {"Together AI", "https://status.together.ai"},
	"fireworks":  {"Fireworks", "https://status.fireworks.ai"},
	"cerebras":   {"Cerebras", "https://status.cerebras.ai"},
	"litellm":    {"LiteLLM", ""},
	"ollama":     {"Ollama", ""},
	"vllm":       {"vLLM", ""},
	"llamacpp":   {"llama.cpp", ""},
	"llama.cpp":  {"llama.cpp", ""},
	"lmstudio":   {"LM Studio", ""},
}

// ProviderName is how people call the provider behind an entry; an entry of a name
// that nobody else knows is called by it.
func ProviderName(entry string) string {
	if known, ok := knownProviders[strings.ToLower(entry)]; ok {
		return known.name
	}
	return entry
}

// StatusURL is the status page of the provider behind an entry, "" where none is known.
func StatusURL(entry string) string { return knownProviders[strings.ToLower(entry)].statusURL }

// providerOf is the entry's name of a failure, by its model where nobody said.
func (f *Failure) providerOf() string {
	if f.Provider != "" {
		return f.Provider
	}
	if entry, _, ok := strings.Cut(f.Model, "/"); ok {
		return entry
	}
	return ""
}
