import type { Failure, Kind } from './event.js';

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

/** The provider of a failure, as people call it. */
export function providerOf(f: Failure): string {
  return providerName(f.provider || entryOf(f.model ?? '')) || 'the provider';
}

const shorts: Partial<Record<Kind, string>> = {
  rate_limit: '{provider} asked to slow down',
  quota: '{provider} asked to slow down',
  context_overflow: 'Too long for {model}',
  billing: '{provider} account has no credit',
  content_filter: '{provider} blocked this',
  max_turn_time: 'Time limit reached',
  run_timeout: 'The run timed out',
  budget: 'The budget is used up',
  round_limit: 'Round limit reached',
};

/** What went wrong, in a few words: "Anthropic is overloaded". */
export function short(f: Failure): string {
  const words = f.variant === 'cooling' ? f.title : shorts[f.kind] ?? f.title;
  return words.replace('{provider}', providerOf(f)).replace('{model}', modelName(f.model ?? '') || 'the model');
}

/** The limits that keep a decision from being acted on, as recovery/blocked.go has them, which a test of it demands. */
const limits: Record<string, string> = {
  crash_loop: 'the run was interrupted too often in a row',
  max_attempts: 'this model call has had all its attempts',
  max_failed_attempts: 'too many attempts of this run have failed',
  max_retries: 'all retries are used up',
  not_retryable: 'the same request would fail again',
  max_delay: 'the wait would be longer than 7 days',
  idle_breaker: 'the model went silent too often',
  compaction: 'the conversation cannot be made shorter',
  max_compactions: 'the conversation has been shortened as often as it may be',
  budget: 'the budget is used up',
  round_limit: 'the run has had all its rounds',
  max_turn_time: 'the time for this turn is up',
  run_timeout: 'the time for this run is up',
  max_turn: 'the wait would go beyond the time for this turn',
  run: 'the wait would go beyond the time for this run',
};

/** What a suggestion's or a decision's `blockedBy` stands for, so that it can follow "because": "all retries are used up". */
export function limitInWords(blockedBy: string): string {
  return Object.hasOwn(limits, blockedBy) ? limits[blockedBy]! : blockedBy.replaceAll('_', ' ');
}
