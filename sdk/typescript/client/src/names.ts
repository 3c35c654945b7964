/** The providers that people know by a name, as failure/words/provider_names.go has them, which a test of it demands. */
const providers: Record<string, [name: string, status?: string]> = {
  anthropic: ['Anthropic', 'https://status.claude.com'],
  claude: ['Anthropic', 'https://status.claude.com'],
  openai: ['OpenAI', 'https://status.openai.com'],
  chatgpt: ['OpenAI', 'https://status.openai.com'],
  codex: ['OpenAI', 'https://status.openai.com'],
  gemini: ['Gemini', 'https://aistudio.google.com/status'],
  'google-gemini': ['Gemini', 'https://aistudio.google.com/status'],
  'google-ai-studio': ['Gemini', 'https://aistudio.google.com/status'],
  google: ['Google', 'https://status.cloud.google.com'],
  vertex: ['Vertex AI', 'https://status.cloud.google.com'],
  vertexai: ['Vertex AI', 'https://status.cloud.google.com'],
  'google-vertex': ['Vertex AI', 'https://status.cloud.google.com'],
  openrouter: ['OpenRouter', 'https://status.openrouter.ai'],
  bedrock: ['Amazon Bedrock', 'https://health.aws.amazon.com/health/status'],
  'amazon-bedrock': ['Amazon Bedrock', 'https://health.aws.amazon.com/health/status'],
  'aws-bedrock': ['Amazon Bedrock', 'https://health.aws.amazon.com/health/status'],
  azure: ['Azure OpenAI', 'https://azure.status.microsoft/status'],
  groq: ['Groq', 'https://groqstatus.com'],
  mistral: ['Mistral', 'https://status.mistral.ai'],
  mistralai: ['Mistral', 'https://status.mistral.ai'],
  deepseek: ['DeepSeek', 'https://status.deepseek.com'],
  xai: ['xAI', 'https://status.x.ai'],
  'x.ai': ['xAI', 'https://status.x.ai'],
  grok: ['xAI', 'https://status.x.ai'],
  together: ['Together AI', 'https://status.together.ai'],
  togetherai: ['Together AI', 'https://status.together.ai'],
  fireworks: ['Fireworks', 'https://status.fireworks.ai'],
  fireworksai: ['Fireworks', 'https://status.fireworks.ai'],
  cerebras: ['Cerebras', 'https://status.cerebras.ai'],
  perplexity: ['Perplexity', 'https://status.perplexity.com'],
  cohere: ['Cohere', 'https://status.cohere.com'],
  huggingface: ['Hugging Face', 'https://status.huggingface.co'],
  'hugging-face': ['Hugging Face', 'https://status.huggingface.co'],
  hf: ['Hugging Face', 'https://status.huggingface.co'],
  'github-copilot': ['GitHub Copilot', 'https://www.githubstatus.com'],
  copilot: ['GitHub Copilot', 'https://www.githubstatus.com'],
  github: ['GitHub Models', 'https://www.githubstatus.com'],
  'github-models': ['GitHub Models', 'https://www.githubstatus.com'],
  zai: ['Z.ai'],
  'z.ai': ['Z.ai'],
  'z-ai': ['Z.ai'],
  zhipu: ['Zhipu AI'],
  zhipuai: ['Zhipu AI'],
  kimi: ['Kimi'],
  moonshot: ['Moonshot AI'],
  moonshotai: ['Moonshot AI'],
  minimax: ['MiniMax'],
  qwen: ['Qwen'],
  dashscope: ['DashScope'],
  poe: ['Poe'],
  litellm: ['LiteLLM'],
  ollama: ['Ollama'],
  vllm: ['vLLM'],
  'llama.cpp': ['llama.cpp'],
  llamacpp: ['llama.cpp'],
  'llama-cpp': ['llama.cpp'],
  lmstudio: ['LM Studio'],
  'lm-studio': ['LM Studio'],
  pi: ['Pi'],
};

/** The entry of a model's full name: "anthropic" of "anthropic/claude". */
export function entryOf(model: string): string {
  return model.split('/', 1)[0] ?? '';
}

/** A model's name without its entry: "claude" of "anthropic/claude". */
export function modelName(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}

/** How people call the provider behind an entry: "openai-work" is OpenAI. */
export function providerName(entry: string): string {
  return known(entry)?.[0] ?? entry;
}

/** Where the provider behind an entry says how it is, or "". */
export function statusUrl(entry: string): string {
  return known(entry)?.[1] ?? '';
}

function known(entry: string): [string, string?] | undefined {
  for (let name = entry.toLowerCase(); name; name = name.slice(0, Math.max(0, name.search(/[-_.:@ ][^-_.:@ ]*$/)))) {
    if (Object.hasOwn(providers, name)) {
      return providers[name];
    }
  }
  return undefined;
}
