package words

import "strings"

// knownProvider is what people call a provider, and where it publishes its status.
type knownProvider struct {
	name      string
	statusURL string // "" if none is known for sure
}

// knownProviders are by the entry's name, in lower case.
var knownProviders = func() map[string]knownProvider {
	known := map[string]knownProvider{}
	for _, p := range []struct {
		entries string
		knownProvider
	}{
		{"anthropic claude", knownProvider{"Anthropic", "https://status.claude.com"}},
		{"openai chatgpt codex", knownProvider{"OpenAI", "https://status.openai.com"}},
		{"gemini google-gemini google-ai-studio", knownProvider{"Gemini", "https://aistudio.google.com/status"}},
		{"google", knownProvider{"Google", "https://status.cloud.google.com"}},
		{"vertex vertexai google-vertex", knownProvider{"Vertex AI", "https://status.cloud.google.com"}},
		{"openrouter", knownProvider{"OpenRouter", "https://status.openrouter.ai"}},
		{"bedrock amazon-bedrock aws-bedrock", knownProvider{"Amazon Bedrock", "https://health.aws.amazon.com/health/status"}},
		{"azure", knownProvider{"Azure OpenAI", "https://azure.status.microsoft/status"}},
		{"groq", knownProvider{"Groq", "https://groqstatus.com"}},
		{"mistral mistralai", knownProvider{"Mistral", "https://status.mistral.ai"}},
		{"deepseek", knownProvider{"DeepSeek", "https://status.deepseek.com"}},
		{"xai x.ai grok", knownProvider{"xAI", "https://status.x.ai"}},
		{"together togetherai", knownProvider{"Together AI", "https://status.together.ai"}},
		{"fireworks fireworksai", knownProvider{"Fireworks", "https://status.fireworks.ai"}},
		{"cerebras", knownProvider{"Cerebras", "https://status.cerebras.ai"}},
		{"perplexity", knownProvider{"Perplexity", "https://status.perplexity.com"}},
		{"cohere", knownProvider{"Cohere", "https://status.cohere.com"}},
		{"huggingface hugging-face hf", knownProvider{"Hugging Face", "https://status.huggingface.co"}},
		{"github-copilot copilot", knownProvider{"GitHub Copilot", "https://www.githubstatus.com"}},
		{"github github-models", knownProvider{"GitHub Models", "https://www.githubstatus.com"}},
		{"zai z.ai z-ai", knownProvider{"Z.ai", ""}},
		{"zhipu zhipuai", knownProvider{"Zhipu AI", ""}},
		{"kimi", knownProvider{"Kimi", ""}},
		{"moonshot moonshotai", knownProvider{"Moonshot AI", ""}},
		{"minimax", knownProvider{"MiniMax", ""}},
		{"qwen", knownProvider{"Qwen", ""}},
		{"dashscope", knownProvider{"DashScope", ""}},
		{"poe", knownProvider{"Poe", ""}},
		{"litellm", knownProvider{"LiteLLM", ""}},
		{"ollama", knownProvider{"Ollama", ""}},
		{"vllm", knownProvider{"vLLM", ""}},
		{"llama.cpp llamacpp llama-cpp", knownProvider{"llama.cpp", ""}},
		{"lmstudio lm-studio", knownProvider{"LM Studio", ""}},
		{"pi", knownProvider{"Pi", ""}},
	} {
		for entry := range strings.FieldsSeq(p.entries) {
			known[entry] = p.knownProvider
		}
	}
	return known
}()

// providerBehind finds the provider of an entry by its name, or by the part before a suffix of the
// user's own: "openai-work" is OpenAI.
func providerBehind(entry string) (knownProvider, bool) {
	if len(entry) > 200 {
		return knownProvider{}, false
	}
	name := strings.ToLower(entry)
	for {
		if known, ok := knownProviders[name]; ok {
			return known, true
		}
		end := strings.LastIndexAny(name, "-_.:@ ")
		if end < 0 {
			return knownProvider{}, false
		}
		name = name[:end]
	}
}

// ProviderName is what people call the provider behind an entry, or the entry's own name if the
// provider is not known.
func ProviderName(entry string) string {
	if known, ok := providerBehind(entry); ok {
		return known.name
	}
	return entry
}

// ModelName is a model's name without its entry: "claude" of "anthropic/claude".
func ModelName(model string) string {
	if _, name, ok := strings.Cut(model, "/"); ok {
		return name
	}
	return model
}

// StatusURL is the status page of the provider behind an entry; "" if none is known.
func StatusURL(entry string) string {
	known, _ := providerBehind(entry)
	return known.statusURL
}
