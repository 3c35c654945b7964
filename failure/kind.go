package failure

// Kind names what went wrong, in one vocabulary for Go, protobuf, JSON and every
// SDK. A reader keeps kinds that it does not know.
type Kind string

// The kinds of failure, each with what it means; the SDKs say it in the same words.
const (
	KindTimeout           Kind = "timeout"            // the provider did not answer in time
	KindUnreachable       Kind = "unreachable"        // DNS, refused, reset before an answer, no route
	KindTLS               Kind = "tls"                // the connection could not be secured
	KindAuth              Kind = "auth"               // the key is missing, refused or expired; region; permission
	KindBilling           Kind = "billing"            // no credit, or a spend limit
	KindRateLimit         Kind = "rate_limit"         // too many requests: wait as long as the provider says
	KindQuota             Kind = "quota"              // a daily or plan limit, until it resets
	KindOverloaded        Kind = "overloaded"         // the provider has no capacity
	KindUnavailable       Kind = "unavailable"        // the provider failed, HTTP 5xx
	KindStreamInterrupted Kind = "stream_interrupted" // the answer broke off
	KindMalformedResponse Kind = "malformed_response" // the answer could not be read
	KindEmptyResponse     Kind = "empty_response"     // the answer said nothing
	KindContextOverflow   Kind = "context_overflow"   // the conversation is too long for the model
	KindInvalidRequest    Kind = "invalid_request"    // the provider refused the request or its history
	KindContentFilter     Kind = "content_filter"     // a refusal or a safety filter
	KindModelNotFound     Kind = "model_not_found"    // the provider does not have the model
	KindOutputTruncated   Kind = "output_truncated"   // cut at the output limit: a larger one may do
	KindMisconfigured     Kind = "misconfigured"      // a wrong base URL, a redirect, a proxy that wants a login
	KindToolFailure       Kind = "tool_failure"       // a tool failed; the model gets the error
	KindStepTimeout       Kind = "step_timeout"       // no step finished in time
	KindMaxTurnTime       Kind = "max_turn_time"      // the turn took too long
	KindRunTimeout        Kind = "run_timeout"        // the run took too long
	KindInterrupted       Kind = "interrupted"        // the process died
	KindPromptFailure     Kind = "prompt_failure"     // the input could not become a request
	KindInternal          Kind = "internal"           // a panic or error in the runner or in an embedder's code
	KindBudget            Kind = "budget"             // tokens or money are used up
	KindRoundLimit        Kind = "round_limit"        // the model asked for tools as often as the run allows
	KindUnknown           Kind = "unknown"            // none of these
)

// Code is the stable, upper-case name that clients may switch on; several kinds
// share one.
type Code string

// The codes.
const (
	CodeProviderTimeout     Code = "MODEL_PROVIDER_TIMEOUT"
	CodeProviderUnreachable Code = "MODEL_PROVIDER_UNREACHABLE"
	CodeProviderAuth        Code = "MODEL_PROVIDER_AUTH_FAILED"
	CodeProviderBilling     Code = "MODEL_PROVIDER_BILLING"
	CodeProviderRateLimited Code = "MODEL_PROVIDER_RATE_LIMITED"
	CodeProviderUnavailable Code = "MODEL_PROVIDER_UNAVAILABLE"
	CodeStreamInterrupted   Code = "MODEL_STREAM_INTERRUPTED"
	CodeContextOverflow     Code = "MODEL_CONTEXT_OVERFLOW"
	CodeRequestInvalid      Code = "MODEL_REQUEST_INVALID"
	CodeContentFiltered     Code = "MODEL_CONTENT_FILTERED"
	CodeModelNotFound       Code = "MODEL_NOT_FOUND"
	CodeOutputTruncated     Code = "MODEL_OUTPUT_TRUNCATED"
	CodeMisconfigured       Code = "MODEL_PROVIDER_MISCONFIGURED"
	CodeToolFailed          Code = "TOOL_FAILED"
	CodeStepTimeout         Code = "RUN_STEP_TIMEOUT"
	CodeMaxTurnTime         Code = "RUN_MAX_TURN_TIME"
	CodeRunTimeout          Code = "RUN_TIMEOUT"
	CodeInterrupted         Code = "RUN_INTERRUPTED"
	CodePromptFailed        Code = "RUN_PROMPT_FAILED"
	CodeInternal            Code = "RUN_INTERNAL_ERROR"
	CodeBudget              Code = "RUN_BUDGET_EXHAUSTED"
	CodeRoundLimit          Code = "RUN_ROUND_LIMIT"
	CodeProviderError       Code = "MODEL_PROVIDER_ERROR"
)

type kindFacts struct {
	kind      Kind
	code      Code
	retryable bool // the same input may succeed later
	once      bool // a single retry shows whether it does
	own       bool // only Mulligan itself reports it, never a provider
}

// kinds is the table of spec §2, in its order. What each SDK knows of the kinds is generated from
// it (make ports).
var kinds = []kindFacts{
	{kind: KindTimeout, code: CodeProviderTimeout, retryable: true},
	{kind: KindUnreachable, code: CodeProviderUnreachable, retryable: true},
	{kind: KindTLS, code: CodeProviderUnreachable},
	{kind: KindAuth, code: CodeProviderAuth},
	{kind: KindBilling, code: CodeProviderBilling},
	{kind: KindRateLimit, code: CodeProviderRateLimited, retryable: true},
	{kind: KindQuota, code: CodeProviderRateLimited},
	{kind: KindOverloaded, code: CodeProviderUnavailable, retryable: true},
	{kind: KindUnavailable, code: CodeProviderUnavailable, retryable: true},
	{kind: KindStreamInterrupted, code: CodeStreamInterrupted, retryable: true},
	{kind: KindMalformedResponse, code: CodeStreamInterrupted, retryable: true},
	{kind: KindEmptyResponse, code: CodeStreamInterrupted, retryable: true, once: true},
	{kind: KindContextOverflow, code: CodeContextOverflow},
	{kind: KindInvalidRequest, code: CodeRequestInvalid},
	{kind: KindContentFilter, code: CodeContentFiltered},
	{kind: KindModelNotFound, code: CodeModelNotFound},
	{kind: KindOutputTruncated, code: CodeOutputTruncated, retryable: true, once: true},
	{kind: KindMisconfigured, code: CodeMisconfigured},
	{kind: KindToolFailure, code: CodeToolFailed, own: true},
	{kind: KindStepTimeout, code: CodeStepTimeout, retryable: true, own: true},
	{kind: KindMaxTurnTime, code: CodeMaxTurnTime, own: true},
	{kind: KindRunTimeout, code: CodeRunTimeout, own: true},
	{kind: KindInterrupted, code: CodeInterrupted, retryable: true, own: true},
	{kind: KindPromptFailure, code: CodePromptFailed, own: true},
	{kind: KindInternal, code: CodeInternal, own: true},
	{kind: KindBudget, code: CodeBudget, own: true},
	{kind: KindRoundLimit, code: CodeRoundLimit, own: true},
	{kind: KindUnknown, code: CodeProviderError, retryable: true, once: true},
}

// ofKind maps each kind to its row in the table.
var ofKind = func() map[Kind]kindFacts {
	m := map[Kind]kindFacts{}
	for _, facts := range kinds {
		m[facts.kind] = facts
	}
	return m
}()

// Kinds lists every kind that this version knows, in the order of spec §2.
func Kinds() []Kind {
	var list []Kind
	for _, facts := range kinds {
		list = append(list, facts.kind)
	}
	return list
}

// Known reports whether this version knows k.
func (k Kind) Known() bool {
	_, ok := ofKind[k]
	return ok
}

// Code is the code of k; for a kind that this version does not know, that of KindUnknown.
func (k Kind) Code() Code {
	if facts, ok := ofKind[k]; ok {
		return facts.code
	}
	return CodeProviderError
}

// Retryable reports whether the same input may succeed later.
func (k Kind) Retryable() bool {
	if facts, ok := ofKind[k]; ok {
		return facts.retryable
	}
	return true
}

// Once reports whether one retry of k with the same input makes sense, and no more: the runner
// refuses a second one within the same model call.
func (k Kind) Once() bool { return ofKind[k].once }
