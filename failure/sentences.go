package failure

import "slices"

var (
	refusing = []int{0, 200, 400, 401, 403, 404, 422, 451}
	metered  = []int{0, 200, 400, 401, 402, 403, 412, 429, 500}
	// metering are the words that tell limits on tokens per minute from the limits of a model.
	metering = []string{
		"rate limit", "per minute", "per min", "tokens per", "rate_limit_error", "rate_limit_exceeded", "throttlingexception", "resource_exhausted",
	}
	// minutely are the words of a limit that passes soon, whatever its code is.
	minutely = []string{"per minute", "per min", "/minute", "/min", "per second", "requests per hour", "quota will reset after", "concurren"}
	// outputLimits name the setting that limits an answer.
	outputLimits = []string{
		"max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens", "maxoutputtokens", "maxtokens", "max tokens",
		"maximum tokens", "max output tokens", "max completion tokens",
	}
	// tokenLimits are names of what a model takes, in the languages that call a quota so, too; figures tell which is meant.
	tokenLimits = []string{"лимит токенов", "лимита токенов", "límite de tokens", "limite de tokens", "limite de jetons", "limite di token", "tokenlimit", "token-limit", "トークン上限", "トークン制限", "토큰 한도", "토큰 제한", "令牌限制", "token 限制"}
	// tokenSums are names of what a request takes of a context.
	tokenSums = []string{"sequence length", "total tokens", "total token", "sum of prompt", "prompt + completion", "prompt and completion", "input + output", "prompt tokens", "input tokens", "prompt length", "input length"}
	// contextSizes are how many tokens models take.
	contextSizes = []string{" 4096", " 8192", " 16384", " 16385", " 32000", " 32768", " 64000", " 65536", " 100000", " 128000", " 131072", " 163840", " 200000", " 256000", " 262144", " 400000", " 1000000", " 1048576"}
	// answerTokens are the words of a limit on the tokens of an answer.
	answerTokens = []string{
		"maxoutputtokens", "max_output_tokens", "max_tokens", "of the answer", "of the response", "of the reply", "of the output", "for the answer", "for the response", "for the output", "ответа", "вывода",
		"de la respuesta", "de salida", "de la réponse", "de sortie", "da resposta", "de saída", "della risposta", "der antwort", "der ausgabe", "응답", "출력", "回答", "输出", "出力", "応答",
	}
	// refusals are what stands behind "failed to load models" where the reason is a refusal.
	refusals = []string{"access denied", "permission", "unauthorized", "unauthenticated", "forbidden", "not allowed", "invalid api key", "401", "403", "policy"}
	// contextNames are names of the context, and overflowing the words that say that it is too long.
	contextNames = []string{"context length", "context window", "context size", "context limit"}
	overflowing  = []string{"exceed", "too long", "too large", "maximum", "reduce", "larger than", "longer than", "greater than", "requested", "tokens", "overflow", "full", "reached", "does not fit", "doesn't fit"}
	// harms are what filters look for.
	harms = []string{"harassment", "self-harm", "self harm", "csam", "hate speech", "hateful", "sexual", "violence", "violent", "weapons", "terroris", "extremis", "illegal activity", "illegal activities", "copyrighted", "profanity"}
	// abilities are what a model may lack.
	abilities = []string{
		"tool", "function call", "functions", "image", "vision", "audio", "video", "pdf", "document", "file input", "multimodal", "thinking",
		"reasoning", "temperature", "top_p", "system message", "system prompt", "system role", "system instruction", "developer instruction",
		"json mode", "json_schema", "json schema", "structured output", "response_format", "response format", "logprobs", "stream", "chat",
		"generate", "prompt caching", "prefill", "parallel", "stop sequence", "'stop'", "penalty", "logit_bias",
	}
)

// sentences are provider messages sent with a code that is too general: 400 invalid_request_error,
// 429 RESOURCE_EXHAUSTED.
var sentences = slices.Concat(english, chinese)

var english = []rule{
	{kind: KindTimeout, any: []string{"timed out without"}},
	{kind: KindTimeout, status: []int{0, 200}, any: []string{"no answer", "no response", "no reply", "no output", "no data", "no token"}, near: []string{" within ", " in time", " from server", " from the server", " from upstream", " from the upstream", " from host", " from the host"}},
	{kind: KindTimeout, status: []int{0, 200}, any: []string{"time to first token", "ttft", "first token", "first byte", "first chunk"}, near: []string{"exceeded", "too long", "deadline", "not received", "never arrived", "never came", "limit"}},
	// What exceeds tells more than what is exceeded: a prompt has no quota.
	{kind: KindContextOverflow, status: refusing, any: []string{"text", "message", "prompt", "input", "conversation", "thread", "chat", "history", "context", "attachments", "document"}, near: []string{"than this model can ", "than the model can ", "than your model can ", "what this model can ", "what the model can ", "than this model takes", "than the model takes"}, unless: []string{"output", "generate", "images", "per minute", "produce"}},
	{kind: KindContextOverflow, status: refusing, any: []string{"over budget", "token budget", "over the budget"}, near: []string{"model's window", "context window", "model's context", "context length"}, unless: []string{"$", "usd", "spend"}},
	{kind: KindOutputTruncated, status: []int{0, 200}, any: []string{"was cut", "cut off", "cut short", "stopped", "truncated", "ended"}, near: []string{"token cap", "tokens cap", "output cap", "reply limit", "answer limit", "response limit", "reply cap", "answer cap", "response cap"}, unless: []string{"context", "prompt", "input", "rate", "per ", "daily"}},
	{kind: KindContextOverflow, any: []string{"prompt exceeds", "input exceeds", "context exceeds", "conversation exceeds", "history exceeds", "messages exceed"}, unless: slices.Concat([]string{"quota", "credit", "afford", "daily", "per day", "monthly", "image", "file"}, metering)},
	// A server that fails while it measures or moderates a prompt says nothing about the prompt.
	{kind: KindUnavailable, status: []int{500, 502, 503, 504}, any: []string{"failed to", "could not", "unable to", "error while", "exception while", "internal error"}, near: []string{
		"context length", "context window", "context size", "context limit", "token count", "moderat", "content policy", "content filter", "guardrail", "safety",
	}, unless: []string{"exceed", "too long", "maximum", "too large"}},
	{kind: KindUnavailable, status: []int{0, 500, 502, 503, 504}, any: []string{"moderation", "content filter", "guardrail", "safety"}, near: []string{
		"timed out", "timeout", "unavailable", "unreachable", "service error", "service failed",
	}},
	{kind: KindTimeout, status: []int{0, 200}, any: []string{"run exceeded ", "turn exceeded ", "execution exceeded ", "task exceeded ", "step exceeded ", "call exceeded "}, near: []string{"0s", "5s", "0 s", " second", " minute", "0ms", "0 ms", "timeout", "time limit"}, unless: []string{"token", "budget"}},
	// Who answered wrongly is told by the verb, whatever status an app gives its own failure.
	{kind: KindMalformedResponse, status: []int{422, 424, 500, 502, 503}, any: []string{
		"ai returned ", "llm returned ", "model returned ", "assistant returned ", "planner returned ", "ai generated ", "llm generated ", "model generated ", "ai produced ", "llm produced ", "model produced ", "ai gave ", "model gave ",
	}, near: []string{"invalid", "malformed", "unparseable", "unparsable", "inconsistent", "unusable", "incomplete"}, unless: slices.Concat([]string{"request", "error code", "api key", "model name", "violat", "policy"}, requestBodies)},
	{kind: KindMisconfigured, status: []int{0}, any: []string{"pip install ", "npm install ", "npm i ", "uv add ", "brew install ", "no module named", "modulenotfounderror", "cannot find module", "cannot find package"}},
	{kind: KindMisconfigured, status: []int{0}, any: []string{"sdk ", "package ", "library ", "dependency "}, near: []string{"not installed", "isn't installed", "is missing", "is required", "lacks ", "is too old", "is outdated"}},
	// A part of an answer that is missing or empty makes the rest unreadable, not empty.
	{kind: KindMalformedResponse, status: []int{0, 200, 502}, any: []string{"has no ", "contains no ", "without a ", "no "}, near: []string{"\" array", "' array", "` array", "\" field", "' field", "` field", "\" key", "' key", "` key", "\" property", "' property", "` property"}, unless: requestBodies},
	{kind: KindMalformedResponse, status: []int{0, 200, 502}, any: []string{"returned empty", "returned an empty"}, near: []string{" at index", " row", " column", " section", " field", " element", " entry", " item"}},
	{kind: KindMalformedResponse, status: []int{0, 200, 502}, any: []string{"no tool call", "no function call"}, near: []string{" returned", " was made", " in the response", " in response", " from the model"}},
	// A piece of a stream that cannot be read is no request that was refused.
	{kind: KindMalformedResponse, status: []int{0, 200, 502}, any: []string{"bad ", "invalid ", "malformed ", "corrupt ", "corrupted ", "unparseable ", "unparsable ", "unreadable ", "garbled "}, near: []string{"sse frame", "sse event", "sse chunk", "sse data", "sse line", "sse message", "sse payload", "stream chunk", "stream event", "stream frame", "event stream", "event-stream"}, unless: requestBodies},
	{kind: KindContentFilter, status: []int{0, 200}, any: []string{"stop_reason", "stop reason", "finish_reason", "finish reason", "stopreason", "finishreason"}, near: []string{"=refusal", "=content_filter", "=safety", "='refusal", "='content_filter", "='safety"}},
	{kind: KindContentFilter, status: []int{0, 200}, any: []string{"(safety)", "(recitation)", "(blocklist)", "(prohibited_content)", "(content_filter)", "(spii)"}},
	{kind: KindEmptyResponse, status: []int{0, 200}, any: []string{
		"empty response", "empty answer", "empty completion", "empty message from", "empty output", "response was empty", "response is empty",
		"body was empty", "body is empty", "empty response body", "no response body", "response body is null", "emptyresponse", "no content in response", "no content in the response",
		"returned no content", "received no content", "no response content", "no content generated", "nocontentgenerated", "nooutputgenerated",
		"did not return any content", "returned no choices", "no choices in", "returned nothing", "but none were returned", "without any content",
		"returned empty", "returned an empty", "returned no text", "no final response", "no response found", "no messages returned", "n't return any", "not return any", "n't produce any", "not produce any", "n't generate any", "not generate any", "produced no ", "generated no ", "zero tokens generated", "received empty", "received an empty", "no generations found", "response contained no",
		"has no content", "returned no response", "returned no output", "produced no output", "did not provide any", "no generation chunks", "no response generated", "blank response",
	}, unless: []string{"request body", "input body", "must not be", "cannot be", "non-empty"}},
	{kind: KindOutputTruncated, status: []int{0, 200, 400}, any: []string{
		"length limit was reached", "lengthfinishreason", "stopped due to length", "finish_reason: length", "finish_reason='length'",
		"finish_reason=length", "finish reason: length", "finish_reason: max_tokens", "stop_reason: max_tokens", "output was truncated",
		"response was truncated", "answer was truncated", "output limit was reached", "output limit reached", "max completion tokens reached", "max output tokens reached",
		"max_tokens length limit", "output token maximum", "output tokens was reached", "output tokens reached", "reached the maximum output", "incompleteoutput", "hit the max tokens", "hit max tokens", "hit max_tokens", "hit the max_tokens", "reached max tokens", "reached max_tokens", "stopped at the length", "hit the output limit", "hit the length limit", "stopped at max", "generation stopped due to max",
	}, unless: []string{"context length limit"}},
	{kind: KindOutputTruncated, status: []int{0, 200}, any: []string{"응답 토큰", "출력 토큰", "出力のトークン", "出力トークン", "応答のトークン", "回答のトークン", "输出 token", "输出token", "回答 token"}, near: []string{"한도", "제한", "상한", "上限", "制限", "限制"}, unless: []string{"컨텍스트", "コンテキスト", "上下文"}},
	{kind: KindOutputTruncated, status: []int{0, 200}, any: slices.Concat([]string{"token limit", "limit of tokens", "tokens limit"}, tokenLimits), near: answerTokens, unless: []string{"context", "prompt", "input", "exceeds the model", "must be", "cannot be"}},
	{kind: KindOutputTruncated, status: []int{0, 200}, any: []string{"token limit"}, near: []string{"before any response", "before any output", "before a response"}},
	{kind: KindMisconfigured, variant: "no_api", status: []int{0, 200, 400, 404, 405, 410}, any: []string{
		"invalid url (", "unknown request url", "unrecognized request url", "cannot post /", "cannot get /", "unexpected endpoint or method",
		"no route matched", "no route for that uri", "route not found", "endpoint not found", "unknown endpoint", "no handler found",
		"no matching operation", "default backend - 404", "was not found on this server", "/chat/completions/chat/completions", "/v1/v1/", "/messages/v1/messages",
		"is no longer supported. please use http", "unsupported api version", "api version not supported", "not accessible via the /",
	}},
	{kind: KindRateLimit, status: []int{0, 403, 429}, any: []string{"error code: 1015"}},
	{kind: KindUnavailable, status: []int{0, 409, 530}, any: []string{"error code: 1016", "error code: 1033"}},
	{kind: KindAuth, variant: "permission", status: []int{0, 403}, any: []string{"error code: 1020", "error code: 1010", "error code: 1009"}},
	{kind: KindMisconfigured, variant: VariantProxyRefused, status: []int{0}, any: []string{"tunnel connection failed", "cannot connect to proxy"}},
	{kind: KindInvalidRequest, any: []string{"streaming is strongly recommended for", "streaming is required for", "context window too small", "image dimensions exceed", "image exceeds", "requires --jinja", "requires --enable"}},
	{kind: KindAuth, variant: "permission", any: []string{"not in allowlist", "not in the allowlist", "not on the allowlist", "not in allow list", "not in whitelist", "not in the whitelist"}},
	{kind: KindUnavailable, any: []string{"backend returned unexpected response", "prediction-error", "prediction error", "prediction failed", "generation error", "inference error", "inference failed"}, unless: []string{"invalid", "input", "token", "context"}},
	{kind: KindQuota, any: []string{"have exhausted the available", "has exhausted the available"}, near: []string{"limit", "quota"}},
	{kind: KindInvalidRequest, variant: "history", any: []string{
		"could not be decrypted", "could not decrypt", "cannot decrypt", "failed to decrypt", "tool_use` ids", "missing tool_result", "missing tool result", "tool_result` block", "tool_use blocks", "tool_result block", "tool_use block can", "no tool output found", "no tool call found", "function call turn",
		"roles must alternate", "alternate between", "without its required following item", "surrogate in string", "content blocks must be non-empty",
		"must have non-empty content", "thought_signature", "must be a response to a prec", "must be followed by tool messages",
		"did not have response messages", "in thinking block", "in `thinking` block", "`thinking` or `redacted_thinking`",
		"`redacted_thinking` blocks", "number of function response parts", "duplicate item found", "toolresult blocks",
		"conversation roles must", "must start with a user message", "cannot end with trailing whitespace", "encrypted content could not be",
		"in the contentblock object is blank", "expected last role user or tool", "no previous assistant message",
	}},
	// Reasoning goes back to where it came from, and is missed there, whatever status a gateway gives that.
	{kind: KindInvalidRequest, variant: "history", any: []string{"reasoning_content", "reasoning content", "reasoning details", "reasoning_details", "reasoning item", "thought signature", "thinking signature", "thinking block", "[].thinking"}, near: []string{
		" is missing", " are missing", " missing in", "must be passed", "must be sent", "must be returned", "must be included", "to be preserved", "must be preserved", " not valid", " is invalid", "was not issued", "were not issued", " is required", "cannot be modified",
	}},
	{kind: KindInvalidRequest, variant: "history", status: []int{0, 200, 400, 404, 422}, any: []string{"tool_use", "tool use", "tool_calls", "tool call", "function_call", "function call"}, near: []string{
		"without tool_result", "without a tool_result", "without tool result", "without a tool result", "without a result", "without its result", "without a matching", "without matching", "has no result", "have no result", "has no matching", "has no corresponding", "without a corresponding", "was never answered", "were never answered",
	}},
	{kind: KindInvalidRequest, status: []int{0, 200, 400, 422}, any: []string{"rejected the request as", "refused the request as", "request was rejected as", "request was refused as", "rejected this request as"}, near: []string{"invalid", "malformed", "bad"}},
	{kind: KindInvalidRequest, variant: "history", status: []int{0, 200, 400, 404, 422}, any: []string{"tool_call_id", "tool_use_id", "tool call id", "call_id"}, near: []string{
		"not found", "missing", "does not match", "doesn't match", "no matching", "duplicate", "invalid",
	}},
	{kind: KindInvalidRequest, variant: "history", status: []int{0, 400, 500}, any: []string{
		"{%", "jinja2", "jinja exception", "jinja template", "apply chat template", "apply_chat_template", "rendering chat template", "render chat template",
		"rendering prompt template", "render prompt template",
	}},
	{kind: KindRateLimit, variant: "too_big", once: never, all: []string{"too large"}, any: []string{"(tpm)", "per min", "tokens per"}},
	{kind: KindBilling, status: metered, any: []string{
		"credit balance", "insufficient credit", "insufficient balance", "insufficient fund", "prepaid credits",
		"extra usage is required", "from your extra usage", "credit card on file", "has not purchased", "have not purchased", "used up your points", "quota is not enough", "quota not enough", "out of credit", "billing hard limit", "payment required",
		"requires more credits", "purchase credits", "purchased credits", "spending limit", "spend limit", "spending cap", "spend alert", "in arrears",
		"balance is insufficient", "not enough credits", "not enough balance", "run out of credits", "included credits", "budget has been exceeded", "exceeded budget", "over budget",
		"exceededbudget", "budgetexceeded", "credits are depleted", "credit limit", "add a credit card", "no credits", "any credits", "add more credits",
		"insufficient_quota", "exceededtokenbudget", "max budget for", "can only afford", "higher monthly limit", "higher total limit", "key limit exceeded", "not active, please check your billing", "billing to be enabled",
		"enable billing", "billing is disabled", "billing account is", "payment is overdue", "overdue payment", "overdue-payment", "past due", "in good standing",
		"not subscribed to", "plan does not include", "plan doesn't include", "not included in your", "not available on your plan", "not available on the free", "requires a pro subscription", "requires a paid", "only available on paid",
	}},
	{kind: KindBilling, status: metered, any: []string{"credits", "balance", "payment method", "credit card"}, near: []string{" required", " needed"}},
	{kind: KindBilling, status: metered, any: []string{"add a payment", "add payment", "add a credit card", "add a card", "enter a payment", "enter a credit card", "top up to ", "top up your", "top up the", "top up before", "topping up"}, unless: minutely},
	{kind: KindBilling, status: metered, any: []string{" 0 credit", "zero credit", "balance: $0", "balance is $0", "balance of $0", "balance is 0", "balance: 0", "credits: 0", "credits left: 0", "credits remaining: 0"}, unless: []string{"0."}},
	{kind: KindBilling, status: metered, any: []string{"extra usage", "extra credits", "paid usage", "usage billing", "pay-as-you-go", "pay as you go"}, near: []string{" required", " needed", "to be switched on", "to be turned on", "to be enabled", "must be enabled", "not enabled", "is off", "is disabled", "turned off"}},
	{kind: KindBilling, status: metered, any: []string{"need extra usage", "needs extra usage", "require extra usage", "requires extra usage", "enable extra usage"}},
	{kind: KindBilling, status: metered, any: []string{"billing"}, near: []string{" not set up", " not enabled", " not active", " is inactive", " not activated", "account closed", "account is closed", "account disabled", "account suspended", "account inactive"}, unless: []string{"billing service", "billing api"}},
	{kind: KindBilling, status: metered, all: []string{"suspended"}, any: []string{"billing", "payment", "invoice"}},
	{kind: KindQuota, status: metered, any: []string{
		"usage limit", "limit exhausted", "regain access on", "per day", "_per_day", "per-day", "requests/day", "tokens/day", "calls/day", "daily limit", "daily quota", "daily request", "daily free",
		"weekly limit", "monthly limit", "weekly quota", "monthly quota", "calls / month", "requests per month", "calls per month", "tokens per month",
		"(rpd)", "(tpd)", "5-hour limit", "session limit", "hit your limit", "have no quota", "quota exhausted", "quota has been exhausted",
		"quota is exhausted", "out of quota", "call volume quota", "premium request", "bymodelbyday", "byday",
		"free tier of the model has been exhausted", "quota has been exceeded for the",
	}},
	{kind: KindQuota, status: metered, any: []string{"quota", "usage", "allowance", "plan limit"}, near: []string{" will reset", " will be reset", " will be refreshed", " will renew", " renews", " refreshes"}, unless: slices.Concat(minutely, []string{"rate limit"})},
	{kind: KindQuota, status: metered, any: []string{"out of messages", "out of requests", "out of prompts", "out of generations", "out of queries", "out of questions", "no messages left", "no requests left", "no prompts left", "no generations left", "no more messages", "no more requests", " 0 messages left", " 0 messages remaining", " 0 requests left", " 0 requests remaining"}},
	{kind: KindQuota, status: metered, any: []string{"allotment", "allocation of messages", "allocation of requests"}, near: []string{" resets", " reset", " used up", " gone", " exhausted", " spent", " renews"}},
	{kind: KindQuota, status: metered, any: []string{"5h ", "5-hour ", "5 hour ", "usage window", "weekly window", "daily window", "rolling window"}, near: []string{"used up", "exhausted", "reached", " is full", "spent", "exceeded"}, unless: []string{"context", "token"}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429}, any: []string{"parallel", "concurrent", "simultaneous"}, near: []string{"requests allowed", "calls allowed", "requests are allowed", "sessions allowed", "generations allowed", "requests permitted", "jobs allowed"}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429}, any: []string{"faster than ", "more often than ", "quicker than "}, near: []string{"allowed", "permitted", "the limit", "your limit"}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429}, any: []string{"faster than ", "more often than ", "quicker than "}, near: []string{"tier", "plan", "allow"}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429}, any: []string{"sending", "messages", "requests", "calls", "going", "moving"}, near: []string{" too fast", " too quickly", " too rapidly"}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429}, any: []string{"request", "calls", "messages", "queries", "prompts"}, near: []string{" every 1", " every 2", " every 3", " every 4", " every 5", " every 6", " every 9", " every minute", " every second", " every hour", " every few "}, unless: []string{"retrying", "polling", "connect", "health", "denied"}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429}, any: []string{"limiter"}, near: []string{"bucket", "rejected", "denied", "refused", "blocked", "tripped", "kicked in", "full", "empty"}, unless: []string{"connect", "dial ", "dns", "timed out"}},
	{kind: KindRateLimit, status: []int{0, 200, 400, 403, 429}, any: []string{"blocked", "rejected", "denied", "refused", "dropped", "stopped"}, near: []string{"by limiter", "by the limiter", "by our limiter", "by a limiter", "by the rate", "by the throttle"}},
	{kind: KindRateLimit, status: []int{0, 200, 429}, any: []string{"easy there", "ease off", "calm down", "hold your horses"}},
	{kind: KindQuota, status: metered, any: []string{"100% of your"}, near: []string{"usage", "quota", "limit", "allowance"}},
	{kind: KindRateLimit, status: []int{402}, any: []string{"rate limit", "rate-limit", "too many requests", "try again in", "try again later", "retry after", "temporarily"}},
	{kind: KindQuota, status: []int{429}, any: []string{"limit: 0,", "limit: 0\n", "limit:0,"}},
	{kind: KindBilling, status: []int{0, 400, 402, 403, 429}, any: []string{"exceeded your current quota"}, unless: slices.Concat(minutely, []string{"quota exceeded for metric", "resource_exhausted"})},
	{kind: KindOverloaded, once: never, any: []string{"no capacity available"}},
	{kind: KindOverloaded, any: []string{
		"overloaded", "at capacity", "over capacity", "capacity exceeded", "capacity temporarily exceeded", "loading model", "model is loading",
		"currently loading", "still loading", "high demand", "high traffic", "server is busy", "server busy", "servers are busy", "too busy",
		"model busy", "model is busy", "model loading", "loading the model", "loading weights", "slots taken", "slots are taken", "too many people", "too many users", "engine is busy", "currently busy",
		"heavy load", "maximum pending requests", "no slot available", "no available slot", "no available instance", "no instance available", "no available worker",
		"no available gpu", "no available node", "max capacity", "maximum capacity",
	}, unless: []string{"error loading model", "failed to load model"}},
	{kind: KindOverloaded, status: []int{0, 200, 400, 429, 500, 503}, any: []string{"no gpu", "no worker", "no replica", "no instance", "no accelerator", "no node", "no slot", "no executor", "no runner", "no pod"}, near: []string{" available", " free", " left", " ready"}},
	{kind: KindOverloaded, status: []int{0, 200, 400, 429, 500, 503}, any: []string{"gpus are", "workers are", "replicas are", "slots are", "instances are", "accelerators are"}, near: []string{" taken", " busy", " occupied", " in use"}},
	{kind: KindOverloaded, status: []int{0, 200, 400, 429, 500, 503}, any: []string{"surge", "spike", "flood", "wave"}, near: []string{"of traffic", "in traffic", "of requests", "in requests", "of demand", "in demand"}},
	{kind: KindInvalidRequest, any: []string{"no endpoints found that support"}, near: abilities},
	{kind: KindInvalidRequest, status: []int{0, 400, 422}, any: []string{"check your inputs and", "check your input and", "issue with your request", "problem with your request"}, unless: []string{
		"server error", "unavailable", "timed out", "overloaded", "api key",
	}},
	{kind: KindUnavailable, status: []int{0, 400, 403, 404, 422}, any: []string{"service"}, near: []string{" is unavailable", " is currently unavailable", " isn't currently available"}, unless: []string{"tier", "region", "country", "legal"}},
	{kind: KindUnavailable, status: []int{0, 400, 500, 502, 503}, any: []string{
		"no fallback", "no more fallback", "fallbacks exhausted", "fallbacks failed", "all fallback", "all providers failed", "all models failed", "all target providers", "providers are unavailable", "providers unavailable",
	}, unless: []string{"api key", "credit", "rate limit", "quota"}},
	{kind: KindUnavailable, any: []string{"no healthy "}, near: []string{"available"}, unless: []string{"deployment"}},
	{kind: KindUnavailable, status: []int{0, 200, 400, 403, 404, 422}, any: []string{"model is not available", "model is unavailable"}, all: []string{"later"}},
	{kind: KindModelNotFound, any: []string{
		"no available model provider", "no endpoints found", "no allowed providers", "is not found for api version",
		"is not supported for generatecontent", "unknown model", "not a valid model", "invalid model name", "invalid model '", "model not found",
		"deployment for this resource does not exist", "does not have access to model", "no access to model", "model is not available",
		"no such model", "not found the model", "model_not_found", "has been decommissioned", "model identifier is invalid", "on-demand throughput",
		"requested model is not supported", "model is not supported", "unsupported model", "not supported model", "have access to the model", "unable to access model",
		"nosuchmodel", "no models loaded", "no healthy deployments", "no model loaded", "project does not have access to it", "too large to be loaded automatically",
		"model names are", "supported models are", "available models are", "permitted models can be found", "model has been retired", "model has been deprecated", "model does not exist",
		"version does not exist", "invalid model: ", "invalid model id", "invalid model specified", "invalid model arn", "end of its life", "reached end of life", "reached end-of-life", "reached eol", "model disabled", "was retired",
	}, unless: []string{"try again later"}},
	{kind: KindModelNotFound, status: []int{0, 200, 400, 403, 404, 422}, all: []string{"model"}, any: []string{"' not found", "` not found", "\" not found", "does not exist"}, unless: []string{"file", "response with id", "tool that"}},
	{kind: KindModelNotFound, status: refusing, any: []string{"not a ", "isn't a ", "not an ", "isn't an "}, near: []string{"known model", "recognized model", "recognised model", "supported model", "available model", "existing model"}},
	{kind: KindModelNotFound, status: refusing, any: []string{"engine ", "deployment ", "deployment id", "inference profile", "model id", "model alias", "model name"}, near: []string{"does not exist", "doesn't exist", "could not be found", "couldn't be found", "cannot be found", "can't be found", "was not found", "is unknown"}},
	{kind: KindModelNotFound, status: refusing, any: []string{"no deployment named", "no deployment called", "no model named", "no model called", "no engine named", "no model with the name", "no model by the name"}},
	{kind: KindModelNotFound, status: refusing, any: []string{"no endpoint", "no provider", "no deployment", "no backend", "no channel", "no route"}, near: []string{"for this model", "for that model", "for the model", "for model", "of this model", "of the model", "serving this model", "serving the model", "serves this model"}, unless: []string{"later", "temporar", "currently", "right now", "at the moment", "busy", "capacity", "image", "tool"}},
	{kind: KindModelNotFound, status: refusing, any: []string{"do not serve", "don't serve", "do not host", "don't host", "do not carry", "don't carry", "do not offer", "don't offer", "not served here", "nothing deployed", "nothing is deployed"}, near: []string{"model", "under the name", "under that name", "under this name", "engine"}},
	{kind: KindModelNotFound, status: []int{0, 400, 404}, any: []string{"ollama pull", "pull the model", "pulling it first", "pull it first"}, unless: []string{"max retries", "connection", "manifest"}},
	{kind: KindModelNotFound, status: append([]int{503}, refusing...), any: []string{"no provider found for", "no provider for", "no provider available for", "no providers available for", "no provider supports", "no provider serves"}},
	{kind: KindMisconfigured, status: []int{0, 400, 404}, any: []string{
		"unknown provider", "unsupported provider", "invalid provider", "no such provider", "unrecognized provider", "unknown llm provider", "provider not found", "no api provider", "no provider registered",
	}, unless: []string{"api key"}},
	{kind: KindModelNotFound, status: refusing, any: []string{"unable to access", "cannot access", "not allowed to use", "not allowed to access", "may not use", "may not access", "not permitted to use", "not entitled to use"}, near: []string{" model"}},
	{kind: KindUnreachable, any: []string{"err_ngrok"}},
	{kind: KindUnavailable, status: []int{0, 200}, any: []string{"result not found", "interaction: "}},
	{kind: KindUnavailable, once: never, any: []string{"requires more system memory"}},
	{kind: KindContentFilter, any: []string{
		"content filter", "contentfilter", "(content_filter", "errorcode: content_filter", "content policy", "contentpolicy", "content management policy", "usage policy", "input was flagged", "prompt was flagged",
		"safety system", "blocked by moderation", "violates our", "blocked for safety", "blocked due to safety", "safety filter",
		"prohibited content", "prohibited_content", "inappropriate content", "sensitive content", "considered high risk", "new_sensitive",
		"content moderation", "cannot assist with", "can't assist with", "unable to assist with", "can't help with that", "cannot help with that", "output blocklist", "input blocklist", "inappropriate output", "inappropriate input", "content exists risk", "blockedprompt", "blocked by guardrail", "blocked by content", "blocked due to recitation",
		"blocked due to prohibited", "blocked due to other", "invalid_prompt", "model armor", "sensitive information", "may contain sens", "pii detected", "pii entit", "sensitive data detected", "blocked entity", "jailbreak detected",
		"prompt injection detected", "prohibited use", "copyrighted content", "copyrighted material", "guardrail raised", "guardrail intervened",
	}},
	{kind: KindContentFilter, status: []int{0, 200, 400, 403}, any: []string{"filter", "moderation", "guardrail", "safety"}, near: []string{"stopped", "blocked", "withheld", "rejected", "refused", "held back", "suppressed"}, unless: []string{"timed out", "unavailable", "filter expression", "key"}},
	{kind: KindContentFilter, status: []int{0, 200, 400, 403}, any: []string{"blocked", "flagged", "detected", "refused", "rejected"}, near: harms},
	{kind: KindContentFilter, status: []int{0, 200, 400, 403}, any: harms, near: []string{"blocked", "flagged", "detected", "refused", "rejected", "not allowed", "prohibited"}},
	{kind: KindContentFilter, status: []int{0, 200, 400, 403}, any: []string{"forbidden word", "forbidden term", "forbidden phrase", "forbidden topic", "prohibited word", "prohibited term", "prohibited phrase", "prohibited topic", "banned word", "banned term", "banned phrase", "banned topic", "disallowed word", "disallowed term", "disallowed topic", "offensive language", "offensive word", "offensive content"}},
	{kind: KindContextOverflow, status: refusing, any: []string{"max tokens of"}, near: []string{" exceeded"}},
	{kind: KindInvalidRequest, any: outputLimits, near: []string{
		"range", "at most", "too large", "too high", "must be less", "must be <", "must be at", "must be between", "must be positive", "maximum allowed",
		"maximum value", "model limit", "exceed", "should be less", "greater than the max", "larger than the max", "above the", "more than the", "but this model", "but the model",
	}, unless: []string{"context", "input", "prompt", "credits", "budget", "afford"}},
	{kind: KindInvalidRequest, status: []int{0, 200, 400, 422, 500}, any: []string{
		"only supported for", "only supported with", "only supported in", "is only available for", "is only available with", "not a chat model", "not for chat", "provider not provided", "cannot use both", "can't use both", "mutually exclusive", "cannot be used together", "can't be used together", "cannot be used with", "can't be used with",
		"cannot be combined with", "can't be combined with", "only allowed when", "only allowed with", "only valid when", "only valid with", "cannot be specified together", "cannot both be", "can not be set at the same time", "invisible character",
	}},
	{kind: KindUnavailable, status: []int{0, 200}, any: []string{"upload failed"}, unless: []string{"unsupported", "too large", "invalid", "format", "type", "too many"}},
	{kind: KindUnreachable, any: []string{"websocket connection limit"}},
	{kind: KindInvalidRequest, status: refusing, any: []string{"tool name", "function name", "tool description", "function description", "stop sequence", "schema name", "user field", "metadata"}, near: []string{"too long", "too large", "longer than"}},
	{kind: KindInvalidRequest, status: []int{0, 400, 422}, any: []string{"unexpected field", "unrecognized field", "unrecognised field", "unexpected property", "unrecognized property", "unexpected parameter"}, unless: []string{" at line ", "expected `", "expected one of", "response", "deserializ", "answer"}},
	{kind: KindInvalidRequest, status: []int{0, 400, 422}, any: []string{"has to lie between", "must lie between", "has to be between", "should be between", "has to be at least", "has to be at most", "may not set both", "cannot set both", "can't set both", "may not give both", "not both"}},
	{kind: KindInvalidRequest, variant: "history", status: []int{0, 400, 422}, any: []string{"matching tool result", "matching tool call", "matching tool_result", "matching function result", "message has to come from", "message must come from", "message should come from"}},
	{kind: KindInvalidRequest, status: []int{0, 400, 404, 422}, any: []string{"model takes no ", "model does not take ", "model doesn't take ", "model accepts no ", "model has no "}, near: abilities},
	{kind: KindInvalidRequest, any: []string{"maximum allowed number of output tokens", "range of max_tokens", "range of max_completion_tokens"}},
	// A setting, or a sum that went wrong, that is named after the context says nothing about its length.
	{kind: KindInvalidRequest, status: []int{0, 200, 400, 422}, any: contextNames, near: []string{" parameter", " selection", "is unsupported", "is not supported"}, unless: overflowing},
	{kind: KindInvalidRequest, status: []int{0, 200, 400, 422}, any: []string{"invalid context ", "unknown context ", "unsupported context "}, unless: overflowing},
	{kind: KindUnavailable, status: []int{0, 500, 502, 503, 504}, any: contextNames, near: []string{"computation failed", "calculation failed", "lookup failed", "check failed", "estimation failed", "could not be determined"}, unless: overflowing},
	{kind: KindContextOverflow, any: []string{"tokens to keep"}},
	{kind: KindContextOverflow, any: []string{"too small for this prompt", "too small for the prompt", "too small for your prompt", "too small for this request", "too small for the request", "too small for this input", "too small for the input", "too small for this conversation", "too small for the conversation"}, unless: []string{"image", "budget", "credit"}},
	// Text is measured in bytes and characters, too.
	{kind: KindContextOverflow, status: refusing, any: []string{"too many"}, near: []string{"text bytes", "bytes in the request", "bytes in the body", "bytes in the prompt", "bytes in your", "total bytes", "characters"}, unless: slices.Concat([]string{"image", "file", "attachment", "audio", "name", "title", "stop"}, metering)},
	{kind: KindContextOverflow, status: refusing, any: []string{"text bytes", "total text", "prompt bytes", "request bytes", "payload of", "request body of", "body of"}, near: []string{"over the", "above the", "larger than", "bigger than", "exceed", "beyond the", "more than"}, unless: slices.Concat([]string{"image", "file", "attachment", "audio"}, metering)},
	// One request is measured by its size, and requests are counted.
	{kind: KindContextOverflow, status: refusing, any: []string{"request over ", "request is over ", "request exceeds ", "request exceeded ", "input over ", "input is over ", "prompt over ", "prompt is over "}, near: []string{"its limit", "the limit", "size limit", "the maximum"}, unless: slices.Concat([]string{"rate", "quota", "spend", "budget"}, metering)},
	{kind: KindContextOverflow, status: refusing, any: []string{"exceeds the limit of", "exceed the limit of", "exceeded the limit of", "over the limit of"}, near: contextSizes, unless: slices.Concat([]string{"request", "quota", "rate", "character", "byte", "usd", "$"}, metering)},
	{kind: KindContextOverflow, any: []string{"context budget", "available context", "availablecontext", "prompt budget"}, near: []string{"exceed", "less than", "not enough", "insufficient", "over"}},
	{kind: KindContextOverflow, any: []string{"context is full", "context full", "context is exhausted"}},
	{kind: KindContextOverflow, any: []string{"exceed"}, near: []string{"context budget", "prompt budget"}},
	{kind: KindContextOverflow, any: []string{
		"prompt is too long", "is too large to process", "context shift is disabled", "context window", "context length", "context limit", "context size", "maximum context", "context overflow", "context the overflows",
		"contextwindowexceeded", "reduce the length of the messages", "exceeded model token limit", "input is too long",
		"maximum number of tokens allowed", "exceeds the maximum number of tokens", "request exceeds the maximum size", "request entity too large",
		"payload too large", "maximum prompt length", "conversation is too long", "conversation too long", "sequence too long", "sequence is too long", "requesttoolarge",
	}},
	{kind: KindRateLimit, status: []int{429}, any: []string{"token limit exceeded", "tokens limit exceeded"}, unless: []string{"context", "prompt", "input", "maximum", "per request"}},
	{kind: KindContextOverflow, any: []string{
		"prompt too long", "prompt exceeds max length", "maximum character", "max input characters", "character limit", "input too long", "input is too large", "prompt is too large", "prompt too large", "maximum input length", "maximum input token",
		"maximum model length", "max_model_len", "exceeds the token limit", "token limit exceeded", "tokens limit exceeded", "too many input tokens",
		"content too large", "request body too large", "payload exceeds", "payload size exceeds", "body exceeds", "body size exceeds", "request size exceeds", "request exceeds the m", "context_length_exceeded", "exceeds the model's maximum", "exceeds the model's limit",
	}, unless: metering},
	{kind: KindContextOverflow, any: []string{"too many tokens"}, unless: slices.Concat([]string{"please wait", "throttl"}, metering)},
	{kind: KindContextOverflow, any: []string{"prompt token", "prompt contains", "input token", "input length"}, all: []string{"exceed"}, unless: metering},
	{kind: KindContextOverflow, any: []string{"inputs`", "inputs", "input", "prompt", "messages"}, near: []string{
		"must have less than", "must have fewer than", "must contain less than", "must contain fewer than", "must be shorter than",
	}, all: []string{"tokens"}, unless: metering},
	{kind: KindContextOverflow, any: []string{"+ `max_new_tokens`", "+ max_new_tokens"}, all: []string{"must be <="}},
	{kind: KindContextOverflow, any: []string{"tokens in request", "tokens in the request", "tokens in your request", "request tokens"}, near: []string{
		"more than", "exceed", "greater than", "over the",
	}, unless: metering},
	{kind: KindContextOverflow, any: []string{"token count"}, near: []string{"exceed"}, unless: slices.Concat([]string{"quota"}, metering)},
	{kind: KindContextOverflow, any: slices.Concat(tokenLimits, tokenSums), near: []string{" > ", ">= ", "exceed", "over the", "greater than", "larger than", "more than"}, unless: metering},
	{kind: KindContextOverflow, any: []string{"range of input length"}},
	{kind: KindContextOverflow, all: []string{"too large for model", "tokens"}},
	// A gateway's 400 for "Provider returned error" says nothing about the provider's own answer.
	{kind: KindRateLimit, status: []int{400}, any: []string{"rate limit", "rate-limit", "too many requests", "429 "}, all: []string{"provider returned error"}},
	{kind: KindUnavailable, status: []int{400}, any: []string{"500 internal", "502 bad", "503 service", "504 gateway", "internal server error", "unavailable", "timed out"}, all: []string{"provider returned error"}},
	// A sentence about valid values is about a setting: "timeout must be between 1 and 120
	// seconds" reports no timeout.
	{kind: KindInvalidRequest, status: refusing, any: []string{
		"must be one of", "must be a number", "must be a string", "must be an integer", "must be an array", "must be an object", "must be a boolean", "must be positive",
		"must be a positive", "must be a non-negative", "must be between", "must be greater than", "must be at least", "must be less than", "timeout must", "limit must be", "should be one of",
		"expected one of", "must not exceed", "must not be negative", "must match pattern", "does not match pattern", "additional properties are not allowed", "limit is required",
	}, unless: []string{"token", "context", "length", "prompt", "input", "model"}},
	{kind: KindAuth, variant: "region", status: refusing, any: []string{
		"location is not supported", "country, region, or territory", "not available in your country", "not available in your region",
		"unsupported countr", "supported countries", "supported-countries",
	}},
	{kind: KindAuth, variant: "missing", status: append([]int{500, 503}, refusing...), any: []string{
		"must be made with a session key", "no api key", "missing api key", "api key is required", "api key is missing", "api key is not set", "api key not set", "api key is not configured",
		"api key not configured", "api key not provided", "api key must be set", "api_key client option must be set", "x-api-key header is required",
		"didn't provide an api key", "did not provide an api key", "missing bearer", "missing authorization header", "no auth credentials",
		"could not resolve authentication", "unable to locate credentials", "could not load credentials", "no credentials found", "default credentials",
		"failed to retrieve credentials", "loadapikeyerror", "missing credentials", "nocredentials",
	}, unless: []string{"incorrect api key"}},
	{kind: KindAuth, variant: "expired_login", status: refusing, any: []string{
		"oauth token", "security token included in the request is expired", "token has expired", "token is expired", "login expired", "session expired", "session has expired",
		"refresh token", "reauthentication is needed", "aws sso login", "access token expired", "login has expired",
	}},
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{
		"no permission to use",
		"is not authorized to", "use case details have not been submitted", "operation not allowed", "organization has been disabled",
		"organization has been restricted", "requires terms acceptance", "gated repo", "for this subscription", "only authorized for use with",
		"access was terminated", "account has been disabled", "account has been terminated",
	}},
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{"terms of service", "terms of use", "the terms", "license agreement", "licence agreement", "user agreement"}, near: []string{"not accepted", "not been accepted", "must be accepted", "must accept", "not agreed"}},
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{
		"verify your phone", "verify your email", "verify your identity", "verify your account", "verify your organization", "requires verification", "verification required", "verification is required", "needs verification", "complete verification",
	}, unless: []string{"certificate", "signature", "tls", "ssl"}},
	{kind: KindAuth, variant: "region", status: refusing, any: []string{"geo-block", "geoblock", "geo block", "geo-restrict", "georestrict", "geofenc", "geo-fenc"}},
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{"does not include api access", "doesn't include api access", "does not include access", "doesn't include access", "without api access", "not open to your ", "isn't open to your ", "not enabled for your org", "closed to your org"}},
	{kind: KindAuth, status: refusing, any: []string{"reconnect your", "reconnect the account", "relink your", "re-link your"}},
	{kind: KindAuth, status: refusing, any: []string{
		"api key not valid", "invalid api key", "incorrect api key", "invalid x-api-key", "api key expired", "invalid_api_key", "api key is invalid",
		"invalid token", "invalid api token", "invalid access token", "token seems invalid", "invalid authentication", "authenticationerror", "unauthorized", "unauthenticated",
		"security token included in the request is invalid", "login fail", "reported as leaked",
	}},
	{kind: KindInvalidRequest, status: []int{0, 200, 400, 404, 415, 422, 501}, any: []string{
		"does not support", "doesn't support", "do not support", "don't support", "not support ", "does not accept", "is not capable of", "doesn't accept",
	}, near: abilities, unless: []string{"make sure"}},
	{kind: KindInvalidRequest, status: []int{0, 200, 400, 404, 415, 422, 500, 501}, any: abilities, near: []string{
		" not supported", " isn't supported", " unsupported", " not enabled for",
	}, unless: []string{"at the moment", "temporarily", "currently not"}},
	{kind: KindUnavailable, status: []int{0, 200, 400, 403, 404, 422, 424}, any: []string{
		"received server error (5", "degraded function", "degraded performance", "is degraded", "currently degraded", "degraded state", "temporarily unavailable", "unable to process your request",
		"model is not ready", "not ready for inference", "is warming up", "server had an error", "error occurred while processing your request", "encountered an unexpected error",
		"runner process has terminated", "runner process no longer running", "model has crashed", "out of memory", "outofmemory", "insufficient memory", "cuda error", "enginedead", "enginecore", "model unloaded",
		"background loop has errored", "error loading model", "failed to load model", "unable to load model",
	}, unless: refusals},
	{kind: KindMalformedResponse, status: []int{0, 200, 400, 424, 500}, any: []string{
		"malformed function call", "malformed tool call", "failed to call a function", "failed_generation", "error parsing tool", "failed to parse tool", "could not parse tool", "invalid tool input", "invalid tool argument", "parse function call", "failed to parse input at pos",
		"model produced invalid", "model tried to call", "model attempted to call", "generated by the model is invalid", "which was not in request.tools", "invalid tool call argument",
		"failed to generate json", "failed to generate structured", "failed to produce structured", "failed to return structured", "failed to validate json", "model generated invalid",
	}},
	{kind: KindMalformedResponse, status: []int{0, 200}, any: []string{"candidates.", "choices.", "finishreason", "finish_reason"}, near: []string{"input should be", "field required"}},
	{kind: KindStreamInterrupted, status: []int{0, 200, 500, 502}, any: []string{"error decoding response"}, unless: []string{"timed out", "timeout", "missing field", "expected", "invalid type", "unknown variant", "eof while parsing"}},
	{kind: KindMalformedResponse, status: []int{0, 200}, any: []string{"error receiving chunk", "error parsing chunk", "failed to parse chunk", "failed to parse stream", "invalid chunk", "decode sse", "parse sse", "malformed sse", "invalid sse", "instead of json"}},
	{kind: KindMalformedResponse, status: []int{0, 200}, all: []string{"validation error"}, any: []string{"chunk", "completion", "response", "stream event"}, unless: []string{
		"request", "badrequest", "input", "invalid_request_error", "validationexception",
	}},
	{kind: KindInvalidRequest, status: []int{0, 400, 422}, any: []string{": field required", "extra inputs are not permitted", "extra_forbidden"}, unless: []string{"choices", "candidates", "response", "completion", "chunk"}},
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{"request not allowed"}},
	{kind: KindMisconfigured, status: []int{0, 400}, any: []string{"requires setting"}, near: []string{"env var", "environment variable"}},
	{kind: KindTimeout, any: []string{"deadline expired"}},
	{kind: KindContentFilter, any: []string{"flagged as", "flagged for", "classified as"}, near: []string{"sensitive", "unsafe", "harmful", "inappropriate", "violat", "disallowed", "explicit"}},
	{kind: KindMalformedResponse, status: []int{0, 200}, any: []string{"choice.message", "choices[0]", "choices.0", "candidates[0]", ".message()", "message.content"}, near: []string{" is null", " is undefined", " is none", " was null"}},
	{kind: KindMalformedResponse, status: []int{0, 200}, any: []string{"output exceeded", "output exceeds", "output is over"}, near: []string{"size", "byte", " kb", " mb"}},
	{kind: KindMisconfigured, status: []int{0, 400}, any: []string{"neither "}, near: []string{" specified", " configured", " is set", " are set", " was set"}},
	{kind: KindMisconfigured, status: []int{0}, any: []string{"choose a", "select a", "pick a", "choose your", "select your"}, near: []string{" in settings", " settings", " preferences"}},
	{kind: KindUnavailable, status: []int{0, 200, 400, 500, 503}, any: []string{"no available account", "no accounts available", "no account available"}},
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{"only allows ", "only allow ", "restricted to "}, near: []string{" clients", " users", " members", " accounts", " customers"}},
	{kind: KindQuota, status: metered, any: []string{"keys are", "keys", "all keys"}, near: []string{" exhausted"}},
}
