package failure

import "strings"

// exactWords are the few sentences that are better evidence than any code sent with them.
var exactWords = []rule{
	{kind: KindAuth, variant: "permission", status: refusing, any: []string{"organization", "account", "identity", "phone number", "project", "workspace"}, near: []string{
		"must be verified", "needs to be verified", "is not verified", "has not been verified", "isn't verified",
	}},
	{kind: KindAuth, variant: "missing", any: []string{"_api_key", "_access_token", "_auth_token", "_api_token", "_access_key"}, near: []string{
		" not set", " unset", " missing", " is required", " must be set", " not found", " not configured", " not provided", " not defined",
		" undefined", " is empty", " environment variable", " env var",
	}, unless: []string{"property", "schema", "parameter", "'required'"}},
	{kind: KindRateLimit, any: []string{"throttling.allocationquota", "throttling.ratequota", "throttling.burstrate"}},
	{kind: KindOverloaded, any: []string{"负载已饱和", "负载饱和"}}, // gateways also send it with billing_not_active
	{kind: KindAuth, once: always, variant: "clock", any: []string{"signature expired", "signature not yet current"}},
}

// strongCodes are codes that mean one thing, whatever else is said.
var strongCodes = []rule{
	{kind: KindBilling, like: []string{
		"insufficient*credit", "insufficient*balance", "insufficient*fund", "insufficient*quota", "balance*insufficient", "credit*exhausted",
		"credit*depleted", "overdue", "inarrears", "stoparrears", "lowbalance", "operationservicestop", "chargeresource*exhaust", "resourcepack*exhaust", "billing*limit", "billing*disabled", "payment*required", "spend*limit", "unpurchased", "notpurchased", "outofcredit",
	}},
	{kind: KindBilling, codes: codes(
		"billing_error", "billing_not_active", "arrearage", "exceeded_current_quota_error", "budget_exceeded", "usage_not_included",
		"customer_verification_required",
	)},
	{kind: KindQuota, codes: codes("servicequotaexceededexception", "session_limit", "session_limit_reached", "session_limit_reached_error", "session_limit_exceeded", "session_limit_exceeded_error"), like: []string{
		"quotaexceeded", "quotaexhausted", "usagelimit", "dailylimit", "weeklylimit", "monthlylimit", "weekly*limited", "freetieronly", "setlimitexceeded",
	}, unless: minutely},
	{kind: KindContextOverflow, codes: codes("request_too_large", "payload_too_large", "tokens_limit_reached", "context_length", "context_window", "context_limit", "max_context", "max_context_length", "max_prompt_length", "max_prompt_tokens", "context_full", "context_limit_error", "context_length_error", "context_window_error", "context_size_error", "prompt_length_error", "prompt_size_error", "input_length_error", "prompt_length", "input_length"), like: []string{
		"context*length*exceed", "context*window*exceed", "exceed*context", "context*limit*exceed", "prompttoolong", "inputtoolong",
		"prompttokens*exceed", "max*prompt*exceed", "inputtokens*exceed", "maxtokensplus*prompttokens", "inputlength", "contextoverflow",
	}},
	{kind: KindOverloaded, once: never, codes: codes("model_capacity_exhausted")},
	{kind: KindOverloaded, like: []string{"overload", "insufficientsystemresource", "modelloading", "serverbusy", "serverlimitexceeded", "capacityexceeded", "queueexceeded"}},
	{kind: KindAuth, variant: "region", codes: codes("unsupported_country_region_territory", "location_policy_violated")},
	{kind: KindAuth, variant: "permission", codes: codes("consumer_invalid", "subscriptionnotregistered", "subscriptiondisabled"), like: []string{"partneraccountunsupport"}},
	{kind: KindTLS, codes: codes(
		"unable_to_verify_leaf_signature", "cert_signature_failure", "cert_untrusted", "curle_peer_failed_verification", "nsurlerrorsecureconnectionfailed",
		"sec_e_untrusted_root", "cert_e_untrustedroot", "err_ssl_protocol_error", "eproto",
	)},
	{kind: KindTLS, variant: "clock", codes: codes("cert_not_yet_valid")},
	{kind: KindUnreachable, codes: codes("curle_got_nothing", "curle_recv_error", "curle_send_error", "curle_http2", "eai_fail", "enotconn", "enetreset", "eshutdown", "wsahost_not_found")},
	{kind: KindStreamInterrupted, codes: codes("curle_partial_file", "curle_http2_stream", "err_http2_session_error")},
	{kind: KindTimeout, codes: codes("curle_operation_timedout")},
	{kind: KindMisconfigured, variant: "not_http", codes: codes("curle_url_malformat", "curle_unsupported_protocol", "err_invalid_protocol")},
	{kind: KindMisconfigured, variant: "redirect", codes: codes("curle_too_many_redirects")},
	{kind: KindMalformedResponse, codes: codes("hpe_invalid_constant", "hpe_invalid_header_token", "hpe_invalid_version", "hpe_invalid_chunk_size")},
	{kind: KindAuth, variant: "expired_login", codes: codes("token_expired", "expired_token", "requestexpired", "access_token_expired", "invalid_grant"), like: []string{"expiredtoken", "refreshfailed", "refreshtoken*failed", "tokenrefresh*failed"}},
	{kind: KindAuth, variant: "missing", codes: codes("credentials_missing", "missing_api_key", "no_api_key", "api_key_required", "missingauthenticationtoken", "missingauthenticationtokenexception")},
	{kind: KindInvalidRequest, variant: "history", codes: codes("previous_response_not_found", "invalid_encrypted_content", "missing_thought_signature")},
	{kind: KindInvalidRequest, codes: codes(
		"unsupported_parameter", "unsupported_value", "invalid_function_parameters", "data_residency_mismatch", "vector_store_not_found",
		"vector_store_expired", "failed_to_download_image", "invalid_json", "malformed_json",
		"336002", // Baidu's first interface
		"max_tokens_exceeded",
	), like: []string{
		"unsupportedapifor", "unsupported*feature", "unsupported*param", "invalid*image", "image*parse", "image*too*large", "image*too*small", "image*notfound", "empty*image", "unsupported*image",
	}},
	// What moderates may fail itself.
	{kind: KindUnavailable, like: []string{"moderation*unavailable", "moderation*timeout", "moderation*timedout", "moderationerror", "moderationapierror", "moderationserviceerror", "moderationcheckerror", "moderation*down", "moderation*servicefail", "moderation*apifail"}},
	{kind: KindContentFilter, codes: codes(
		"moderation", "content_policy", "safety_policy", "content_safety", "content_refused", "content_filter", "content_policy_violation", "invalid_prompt", "bio_policy", "cyber_policy", "refusal", "safety",
		"prohibited_content", "blocklist", "blacklist", "recitation", "spii", "image_safety", "responsibleaipolicyviolation",
		"moderation_blocked", "image_content_policy_violation", "image_recitation", "language",
		"blocked_safety", "blocked_prohibited_content", "blocked_blocklist", "blocked_other", "blocked_jailbreak",
		"prompt_blocked", "input_blocked", "output_blocked", "response_blocked", "refusal_error", "model_refusal", "model_refused", "blocked_model_armor", "blocked_image_safety", "blocked_block_reason_unspecified", "sensitive_words_detected",
	), like: []string{"inspectionfailed", "risk*detect", "illegal*detect", "unsafe*content", "content*blocked", "moderation*failed", "guardrail*intervened", "sensitivecontent", "contentsecurity", "contentmoderation", "moderated", "moderation*flagged", "moderation*rejected", "moderation*blocked"}},
	{kind: KindModelNotFound, codes: codes("model_not_available", "model_decommissioned", "unknown_model", "unknown_engine", "unknown_deployment", "engine_not_found", "engine_not_found_error", "invalid_model", "unsupported_model", "unsupported_model_error", "unsupported_engine", "unsupported_engine_error", "model_gone", "model_gone_error", "deployment_missing", "deployment_missing_error", "not_found_error"), unless: []string{"file not found"}, like: []string{
		"model*notfound", "deployment*notfound", "model*notexist", "model*notsupported", "unavailablemodel", "model*retired", "model*deprecated",
	}},
	{kind: KindMisconfigured, variant: "no_api", codes: codes("unknown_url", "url.not_found", "unknown_endpoint", "route_not_found", "invalid_api_version", "unsupported_api_version")},
	{kind: KindMalformedResponse, codes: codes(
		"malformed_response", "malformed_function_call", "malformed_function_call_error", "malformed_tool_call", "malformed_tool_call_error", "bad_tool_call", "bad_function_call", "unexpected_tool_call", "tool_use_failed", "too_many_tool_calls",
		"finish_reason_unspecified",
	)},
	{kind: KindEmptyResponse, codes: codes("no_image", "empty_response", "no_candidates", "no_choices")},
	{kind: KindOutputTruncated, codes: codes("max_tokens", "max_output_tokens", "max_tokens_reached", "max_output_tokens_reached", "length"), status: []int{0, 200}},
}

// generalCodes are codes that mean one thing unless something more precise was said.
var generalCodes = []rule{
	{kind: KindAuth, variant: "permission", codes: codes(
		"permission_error", "validation_required", "request_forbidden", "forbidden", "service_disabled", "consumer_suspended",
		"organization_restricted", "organization_disabled", "unauthorizedoperation", "model_terms_required", "optinrequired", "no_access", "access_terminated",
	), like: []string{"permission*denied", "access*denied", "apikey*blocked", "notauthorized"}},
	{kind: KindAuth, codes: codes(
		"authentication_error", "authenticationerror", "unauthenticated", "unauthorized", "invalid_authentication",
		"invalid_authentication_error", "account_deactivated", "auth", "auth_error", "authentication",
	), like: []string{
		"ssorequired", "loginrequired", "apikey*invalid", "invalid*apikey", "incorrect*apikey", "apikey*expired", "unrecognizedclient", "invalidsignature",
		"signaturedoesnotmatch", "invalidclienttoken", "incompletesignature", "authentication*failed",
	}},
	{kind: KindRateLimit, codes: codes("resource_exhausted", "slow_down", "slow_down_error"), like: []string{
		"ratelimit", "throttl", "toomanyrequests", "ratequota", "burstrate", "limitrequests", "perminute*exceeded", "toomany*perminute", "toomany*persecond", "perminute*reached", "persecond*exceeded", "concurren*limit", "concurren*exceed", "concurren*saturat",
	}},
	{kind: KindTimeout, codes: codes("deadline_exceeded", "timeout", "timeout_error", "gateway_timeout", "modeltimeoutexception"), like: []string{"request*timeout", "internal*timeout", "inference*timeout", "engine*timeout", "upstream*timeout", "generation*timeout", "response*timeout"}},
	{kind: KindUnavailable, codes: codes("vector_store_timeout")},
	{kind: KindUnreachable, codes: codes("network"), status: []int{0, 200}},
	{kind: KindStreamInterrupted, codes: codes("modelstreamerrorexception", "stream_error")},
	{kind: KindMalformedResponse, codes: codes("json_validate_failed", "model_error")},
	{kind: KindModelNotFound, codes: codes("not_found", "resourcenotfoundexception"), status: []int{404}},
	{kind: KindModelNotFound, codes: codes("resourcenotfoundexception"), status: []int{0, 200, 400}},
	{kind: KindModelNotFound, codes: codes("not_found"), status: []int{0, 200}, any: []string{"model", "modèle", "модел", "模型", "モデル", "모델"}},
}

// serverCodes say no more than a status of 500 does.
var serverCodes = []rule{
	{kind: KindUnavailable, codes: codes(
		"server_error", "internal", "internal_error", "internal_server_error", "internalserverexception",
		"bad_gateway", "bad_upstream_response", "network_error", "not_found", "serviceunavailableexception",
		"service_unavailable", "service_unavailable_error", "internalfailure", "modelerrorexception", "modelnotreadyexception",
		"model_unavailable", "systemerror",
	), status: []int{0, 200, 400, 404, 409, 424, 429, 500, 502, 503, 520, 521, 522, 523, 524, 530}},
	{kind: KindUnavailable, codes: codes("bad_response_status_code"), status: []int{0, 200, 500, 502, 503}},
	{kind: KindUnavailable, codes: codes("apiconnectionerror"), status: []int{200, 400, 500}}, // a gateway's own connection failed
	{kind: KindUnavailable, codes: codes("unavailable"), status: []int{0, 200, 400, 404}},
	// The code of a gateway that passes an error on says less than the status of the error itself.
	{kind: KindUnavailable, codes: codes("api_error", "upstream_error", "provider_error"), status: []int{0, 200, 404, 409, 424, 429, 500, 502, 503, 520, 521, 522, 523, 524, 530}},
}

// invalidCodes say no more than a 400 does.
var invalidCodes = codes(
	"invalid_request_error", "invalid_argument", "failed_precondition", "bad_request", "validation_error", "out_of_range",
	"invalid_request", "validationexception", "unprocessable_entity", "invalid_parameter", "missing_required_parameter", "unknown_parameter",
	"invalid_type", "invalid_value", "operationnotsupported", "precondition_failed",
)

// codes converts codes to the form in which they are compared.
func codes(names ...string) []string {
	for i, name := range names {
		names[i] = flat(name)
	}
	return names
}

// flat is a code in lower case without separators: RateLimitExceeded, rate-limit-exceeded and
// rate_limit_exceeded are one code.
func flat(code string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', ' ', '.', '/', ':':
			return -1
		}
		return r
	}, strings.ToLower(code))
}

// maxLikeCode is the longest code, in bytes, that is compared with patterns; anything longer is
// prose where a code should be.
const maxLikeCode = 64

// isLike reports whether code, which is flat, contains the parts of pattern in order; a star
// separates the parts.
func isLike(code, pattern string) bool {
	for more := true; more; {
		var piece string
		piece, pattern, more = strings.Cut(pattern, "*")
		i := strings.Index(code, piece)
		if i < 0 {
			return false
		}
		code = code[i+len(piece):]
	}
	return true
}

// isName reports whether text is a single identifier made of several words: AppIdNoAuthError,
// quota_exceeded.
func isName(text string) bool {
	if len(text) > maxLikeCode || wordLen(text) != len(text) {
		return false
	}
	parted := strings.IndexByte(text, '_') > 0
	for i := 1; i < len(text) && !parted; i++ {
		parted = isSmall(text[i-1]) && text[i] >= 'A' && text[i] <= 'Z'
	}
	return parted
}

func isSmall(b byte) bool { return b >= 'a' && b <= 'z' }

// nameIn is the name of the exception of a message, behind its frames if it is there.
func nameIn(text string) string {
	name := exceptionName(text)
	if own := unframed(text); name == "" && len(own) < len(text) {
		return exceptionName(own)
	}
	return name
}

// exceptionName is the code in a message of AWS: "An error occurred (ThrottlingException)
// when calling", "ThrottlingException: Too many requests"; of gRPC: "code = Unavailable desc = …";
// or behind "code=" or "code: ", as logs and wrappers write it; "" where there is none.
func exceptionName(text string) string {
	if _, rest, ok := strings.Cut(text, errorOccurred); ok {
		if n := wordLen(rest); n > 0 && n < len(rest) && rest[n] == ')' {
			return rest[:n]
		}
	}
	if n := wordLen(text); n < len(text) && text[n] == ':' && strings.HasSuffix(text[:n], "Exception") {
		return text[:n]
	}
	if _, rest, ok := strings.Cut(text, "code = "); ok {
		if n := wordLen(rest); n > 0 && strings.HasPrefix(rest[n:], " desc = ") {
			return rest[:n]
		}
	}
	for _, label := range [...]string{"code=", "code: "} {
		_, rest, _ := strings.Cut(text, label)
		if n := wordLen(rest); isName(rest[:n]) {
			return rest[:n]
		}
	}
	return ""
}
