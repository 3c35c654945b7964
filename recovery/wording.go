package recovery

import (
	"slices"
	"strings"
)

// rule is one line of the table by which evidence gets its kind. It matches when every
// part of it that is set does. Words and codes are in lower case.
type rule struct {
	kind    Kind
	variant string
	once    retryability
	codes   []string // one of them is a code of the body
	status  []int    // the status is one of them; 0 = there is none
	any     []string // one of these is said
	all     []string // all of these are said
	unless  []string // none of these is said, or is a code
	wire    bool     // the words are those of the transport, not of a provider's answer: on an open stream, it broke
}

// retryability is a rule's own word where it differs from its kind's.
type retryability uint8

const (
	asKind retryability = iota
	never
	always
)

var (
	refusing = []int{0, 200, 400, 401, 403, 404, 422, 451}
	metered  = []int{0, 200, 400, 402, 403, 429}
	// metering is how limits on tokens per minute are told from those of a model.
	metering = []string{
		"rate limit", "per minute", "per min", "tokens per", "rate_limit_error", "rate_limit_exceeded", "throttlingexception", "resource_exhausted",
	}
)

// rules is read from the top; the first match decides. Strong codes come first, then
// what a provider says where its code is too general (400 invalid_request_error,
// 429 RESOURCE_EXHAUSTED), then the general codes; the status and loose words follow in
// byStatus and looseRules.
var rules = []rule{
	// Codes that mean one thing.
	{kind: KindBilling, codes: []string{
		"insufficient_quota", "billing_hard_limit_reached", "credit_balance_exhausted", "billing_error", "billing_not_active",
		"insufficient_balance", "insufficient_credits", "payment_required", "arrearage", "exceeded_current_quota_error",
		"account_balance_insufficient", "insufficient_user_quota", "budget_exceeded",
	}},
	{kind: KindQuota, codes: []string{"usage_limit_reached", "usage_limit_exceeded", "daily_limit_exceeded", "weekly_limit_exceeded"}},
	{kind: KindContextOverflow, codes: []string{
		"context_length_exceeded", "model_context_window_exceeded", "context_window_exceeded", "exceed_context_size_error",
		"request_too_large", "contextwindowexceedederror", "context_limit_exceeded", "prompt_too_long", "tokens_limit_reached",
	}},
	{kind: KindOverloaded, once: never, codes: []string{"model_capacity_exhausted"}},
	{kind: KindOverloaded, codes: []string{"overloaded_error", "overloaded", "engine_overloaded", "engine_overloaded_error", "server_overloaded", "server_is_overloaded"}},
	{kind: KindAuth, variant: "region", codes: []string{"unsupported_country_region_territory"}},
	{kind: KindAuth, variant: "expired_login", codes: []string{"expiredtokenexception", "token_expired", "expired_token"}},
	{kind: KindAuth, once: always, variant: "clock", any: []string{"signature expired", "signature not yet current"}},
	{kind: KindInvalidRequest, variant: "history", codes: []string{"previous_response_not_found", "invalid_encrypted_content"}},
	{kind: KindInvalidRequest, codes: []string{
		"unsupported_parameter", "unsupported_value", "invalid_function_parameters",
		"data_residency_mismatch",
	}},
	{kind: KindContentFilter, codes: []string{
		"content_filter", "content_policy_violation", "invalid_prompt", "bio_policy", "cyber_policy", "refusal", "safety",
		"prohibited_content", "blocklist", "recitation", "spii", "image_safety", "responsibleaipolicyviolation",
		"data_inspection_failed", "moderation_blocked", "image_content_policy_violation",
		"blocked_safety", "blocked_prohibited_content", "blocked_blocklist", "blocked_other", "blocked_jailbreak",
		"blocked_model_armor", "blocked_image_safety", "blocked_block_reason_unspecified", "sensitive_words_detected", "guardrail_intervened",
	}},
	{kind: KindModelNotFound, codes: []string{"model_not_found", "deploymentnotfound", "model_not_available", "model_not_supported", "model_decommissioned", "unknown_model", "not_found_error"}},
	{kind: KindMalformedResponse, codes: []string{
		"malformed_response", "malformed_function_call", "unexpected_tool_call", "tool_use_failed", "too_many_tool_calls",
		"finish_reason_unspecified",
	}},
	{kind: KindOutputTruncated, codes: []string{"max_tokens", "max_output_tokens", "length"}, status: []int{0, 200}},

	// What is said in so many words.
	{kind: KindInvalidRequest, any: []string{"context window too small", "image dimensions exceed", "image exceeds"}},
	{kind: KindInvalidRequest, variant: "history", any: []string{
		"tool_use` ids", "tool_result` block", "no tool output found", "no tool call found", "function call turn",
		"roles must alternate", "without its required following item", "surrogate in string", "content blocks must be non-empty",
		"must have non-empty content", "thought_signature", "must be a response to a prec", "must be followed by tool messages",
		"did not have response messages", "in thinking block", "in `thinking` block", "`thinking` or `redacted_thinking`",
		"`redacted_thinking` blocks", "number of function response parts", "duplicate item found",
	}},
	{kind: KindRateLimit, variant: "too_big", once: never, all: []string{"too large"}, any: []string{"(tpm)", "per min", "tokens per"}},
	{kind: KindBilling, status: metered, any: []string{
		"credit balance", "insufficient credit", "insufficient balance", "insufficient fund", "prepaid credits",
		"extra usage is required", "used up your points", "out of credit", "billing hard limit", "payment required",
		"requires more credits", "purchase credits", "spending limit", "spend limit", "spending cap", "account is in arrears",
		"balance is insufficient", "not enough credits", "run out of credits", "included credits", "budget has been exceeded", "exceededbudget",
	}},
	{kind: KindQuota, status: metered, any: []string{
		"usage limit", "limit exhausted", "regain access on", "per day", "per-day", "daily limit", "daily quota", "daily request",
		"weekly limit", "monthly limit", "(rpd)", "(tpd)", "5-hour limit", "session limit",
	}},
	{kind: KindRateLimit, status: []int{402}, any: []string{"rate limit", "rate-limit", "too many requests", "try again in", "try again later", "retry after", "temporarily"}},
	{kind: KindQuota, status: []int{429}, any: []string{"limit: 0,", "limit: 0\n", "limit:0,"}},
	{kind: KindBilling, status: []int{0, 400, 402, 403, 429}, any: []string{"exceeded your current quota"}, unless: []string{"quota exceeded for metric", "resource_exhausted"}},
	{kind: KindOverloaded, once: never, any: []string{"no capacity available"}},
	{kind: KindOverloaded, any: []string{
		"overloaded", "at capacity", "over capacity", "loading model", "high demand", "server is busy", "servers are busy", "heavy load",
	}},
	{kind: KindModelNotFound, any: []string{
		"no available model provider", "no endpoints found", "no allowed providers", "is not found for api version",
		"is not supported for generatecontent", "unknown model", "not a valid model", "invalid model name", "model not found",
		"deployment for this resource does not exist", "does not have access to model", "model is not available",
		"no such model", "model_not_found", "has been decommissioned", "model identifier is invalid", "on-demand throughput",
		"requested model is not supported", "model is not supported", "unsupported model", "have access to the model",
	}},
	{kind: KindModelNotFound, status: []int{0, 200, 400, 403, 404, 422}, all: []string{"model"}, any: []string{"' not found", "` not found", "\" not found", "does not exist"}, unless: []string{"file", "response with id"}},
	{kind: KindUnavailable, status: []int{0, 200}, any: []string{"result not found", "interaction: "}},
	{kind: KindContentFilter, any: []string{
		"content filter", "content policy", "content management policy", "usage policy", "input was flagged", "prompt was flagged",
		"safety system", "blocked by moderation", "violates our", "blocked for safety", "blocked due to safety", "safety filter",
		"prohibited content", "prohibited_content", "inappropriate content", "sensitive content", "considered high risk", "new_sensitive",
		"content moderation",
	}},
	{kind: KindContextOverflow, any: []string{
		"prompt is too long", "context window", "context length", "context limit", "context size", "maximum context",
		"contextwindowexceeded", "reduce the length of the messages", "exceeded model token limit", "input is too long",
		"maximum number of tokens allowed", "exceeds the maximum number of tokens", "request exceeds the maximum size", "request entity too large",
		"payload too large", "maximum prompt length",
	}},
	{kind: KindContextOverflow, any: []string{
		"prompt too long", "input is too large", "maximum input length", "maximum input token",
		"maximum model length", "max_model_len", "exceeds the token limit", "token limit exceeded", "too many input tokens",
		"content too large", "request body too large", "context_length_exceeded", "exceeds the model's maximum",
	}, unless: metering},
	{kind: KindContextOverflow, any: []string{"too many tokens"}, unless: append([]string{"please wait", "throttl"}, metering...)},
	{kind: KindContextOverflow, any: []string{"prompt token", "prompt contains", "input token", "input length"}, all: []string{"exceed"}, unless: metering},
	{kind: KindContextOverflow, any: []string{"range of input length"}},
	{kind: KindContextOverflow, all: []string{"too large for model", "tokens"}},
	{kind: KindAuth, variant: "region", status: refusing, any: []string{
		"location is not supported", "country, region, or territory", "not available in your country", "not available in your region",
		"unsupported country",
	}},
	{kind: KindAuth, variant: "missing", status: refusing, any: []string{
		"no api key", "missing api key", "api key is required", "api key is missing", "x-api-key header is required",
		"didn't provide an api key", "did not provide an api key", "missing bearer", "no auth credentials", "could not resolve authentication",
	}},
	{kind: KindAuth, variant: "expired_login", status: refusing, any: []string{
		"oauth token", "security token included in the request", "token has expired", "token is expired", "login expired", "session expired",
		"refresh token",
	}},
	{kind: KindAuth, status: refusing, any: []string{
		"api key not valid", "invalid api key", "incorrect api key", "invalid x-api-key", "api key expired", "invalid_api_key",
		"invalid token", "invalid authentication", "authenticationerror", "unauthorized", "unauthenticated",
	}},
	{kind: KindTimeout, any: []string{"deadline expired"}},

	// Codes that mean one thing where nothing more precise was said.
	{kind: KindAuth, codes: []string{
		"api_key_invalid", "invalid_api_key", "authentication_error", "unauthenticated", "invalid_authentication",
		"invalid_authentication_error", "incorrect_api_key_error", "unrecognizedclientexception", "account_deactivated",
		"invalidsignatureexception", "api_key_expired",
	}},
	{kind: KindAuth, variant: "permission", codes: []string{
		"permission_error", "permission_denied", "accessdeniedexception", "validation_required", "request_forbidden", "forbidden",
	}},
	{kind: KindRateLimit, codes: []string{
		"rate_limit_error", "rate_limit_exceeded", "resource_exhausted", "slow_down", "throttlingexception", "too_many_requests",
		"rate_limited", "rate_limit", "rate_limit_reached_error", "ratelimitreached",
	}},
	{kind: KindTimeout, codes: []string{"deadline_exceeded", "timeout", "timeout_error", "request_timeout"}},
	{kind: KindModelNotFound, codes: []string{"not_found"}, status: []int{404}},
	{kind: KindUnavailable, codes: []string{
		"server_error", "api_error", "internal", "internal_error", "internal_server_error", "internalserverexception", "upstream_error",
		"bad_gateway", "network_error", "provider_error", "vector_store_timeout", "not_found", "serviceunavailableexception",
	}, status: []int{0, 200, 400, 404, 409, 500, 502, 503, 520, 521, 522, 523, 524, 530}},
}

// looseRules read the words of the transport, or of whoever passed a failure on with
// nothing but a message. They come last.
var looseRules = []rule{
	{kind: KindMisconfigured, variant: "not_https", wire: true, any: []string{"server gave http response to https client"}},
	{kind: KindMisconfigured, variant: "not_http", wire: true, any: []string{"malformed http response", "malformed http status", "unsupported protocol scheme", "invalid port", "missing protocol scheme"}},
	{kind: KindMisconfigured, variant: "proxy", wire: true, any: []string{"proxy authentication required", "proxyconnect"}},
	{kind: KindTimeout, wire: true, any: []string{"tls handshake timeout"}},
	{kind: KindTLS, variant: "clock", wire: true, any: []string{"certificate has expired", "cert_has_expired", "not yet valid"}},
	{kind: KindTLS, variant: "host", wire: true, any: []string{"certificate is valid for", "certificate is not valid for", "hostname/ip does not match", "err_tls_cert_altname_invalid"}},
	{kind: KindTLS, variant: "authority", wire: true, any: []string{"unknown authority", "self signed certificate", "self-signed certificate", "unable to get local issuer", "unable_to_verify_leaf_signature", "certificate_verify_failed"}},
	{kind: KindTLS, wire: true, any: []string{"x509:", "tls:", "certificate", "ssl routines", "sslerror"}},
	{kind: KindMalformedResponse, wire: true, any: []string{
		"invalid byte in chunk length", "gzip: invalid", "malformed chunked encoding", "invalid character", "unexpected end of json",
		"token too long", "zlib: invalid", "flate: corrupt",
	}},
	{kind: KindStreamInterrupted, wire: true, any: []string{"unexpected eof", "premature close", "incomplete chunked read", "terminated", "other side closed"}},
	{kind: KindUnreachable, wire: true, any: []string{
		"no such host", "enotfound", "eai_again", "getaddrinfo", "name resolution", "dns error", "dns lookup", "dns resol", "dns fail", "dial tcp: lookup", "server misbehaving",
		"connection refused", "econnrefused", "connection reset", "econnreset", "broken pipe", "epipe", "network is unreachable", "enetunreach",
		"no route to host", "ehostunreach", "fetch failed", "failed to fetch", "network error", "networkerror", "connection error", "stream error:",
		"goaway", "use of closed network connection", "socket hang up", "server closed idle connection", "connection lost",
		"load failed", "apiconnectionerror", "err_network", "err_internet_disconnected",
	}},
	{kind: KindTimeout, once: never, wire: true, any: []string{"client.timeout or context cancellation while reading body"}},
	{kind: KindTimeout, wire: true, any: []string{
		"timed out", "timeout", "etimedout", "aborterror", "deadline exceeded", "deadline_exceeded", "operation was aborted", "esockettimedout",
	}},
	{kind: KindRateLimit, any: []string{"rate limit", "rate_limit", "ratelimit", "too many requests", "slow down", "throttl"}},
	{kind: KindAuth, any: []string{"unauthorized", "authentication", "forbidden", "permission denied", "access denied", "accessdenied", "not authorized", "api key"}},
	{kind: KindUnavailable, any: []string{"unavailable", "bad gateway", "gateway time-out", "internal server error", "internal error", "server error", "serviceunavailable"}},
	{kind: KindUnreachable, wire: true, any: []string{": eof"}},
}

// match is what in a reading made a rule match: a code, or a phrase that was said.
type match struct {
	code   providerCode
	phrase string
}

// matches reports whether every part of r that is set holds, and by what.
func (r *rule) matches(c *reading) (m match, ok bool) {
	if len(r.status) > 0 && !slices.Contains(r.status, c.status) {
		return m, false
	}
	if len(r.codes) > 0 {
		if m.code, ok = c.codeOf(r.codes); !ok {
			return m, false
		}
	}
	if len(r.any) > 0 {
		if m.phrase, ok = c.saysAny(r.any); !ok {
			return m, false
		}
	}
	for _, words := range r.all {
		if !c.says(words) {
			return m, false
		}
		m.phrase = joinPhrases(words, m.phrase)
	}
	if _, said := c.saysAny(r.unless); said {
		return m, false
	}
	_, coded := c.codeOf(r.unless)
	return m, !coded
}

func joinPhrases(a, b string) string {
	if b == "" {
		return a
	}
	return a + " … " + b
}

// trigrams is a set of the three-letter pieces of a text, by their hash: most phrases
// are found missing by it without a search.
type trigrams [1 << 10]uint64

func trigramsOf(text string) *trigrams {
	var set trigrams
	for i := 0; i+3 <= len(text); i++ {
		h := trigram(text[i:])
		set[h>>6] |= 1 << (h & 63)
	}
	return &set
}

// trigram hashes the first three bytes of text to 16 bits.
func trigram(text string) uint32 {
	return (uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])) * 2654435761 >> 16
}

// lacks reports whether phrase cannot be in the text, by its pieces.
func (set *trigrams) lacks(phrase string) bool {
	for i := 0; i+3 <= len(phrase); i++ {
		if h := trigram(phrase[i:]); set[h>>6]&(1<<(h&63)) == 0 {
			return true
		}
	}
	return false
}

// says reports whether phrase, in lower case, occurs in what was said.
func (c *reading) says(phrase string) bool {
	return !c.grams.lacks(phrase) && strings.Contains(c.text, phrase)
}

// saysAny gives the first of the phrases that occurs in what was said.
func (c *reading) saysAny(phrases []string) (string, bool) {
	for _, p := range phrases {
		if c.says(p) {
			return p, true
		}
	}
	return "", false
}
