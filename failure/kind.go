package failure

// Kind names what went wrong, in one vocabulary for Go, protobuf, JSON and every
// SDK. A reader keeps kinds that it does not know.
type Kind string

// The kinds of failure. The comments say whether the same input may succeed later.
const (
	KindTimeout           Kind = "timeout"            // yes
	KindUnreachable       Kind = "unreachable"        // yes: DNS, refused, reset before an answer, no route
	KindTLS               Kind = "tls"                // no
	KindAuth              Kind = "auth"               // no: key missing, refused, expired; region; permission
	KindBilling           Kind = "billing"            // no: no credit, spend limit
	KindRateLimit         Kind = "rate_limit"         // yes, after RetryAfter
	KindQuota             Kind = "quota"              // not before ResetsAt
	KindOverloaded        Kind = "overloaded"         // yes
	KindUnavailable       Kind = "unavailable"        // yes: 5xx
	KindStreamInterrupted Kind = "stream_interrupted" // yes
	KindMalformedResponse Kind = "malformed_response" // yes
	KindEmptyResponse     Kind = "empty_response"     // yes, once
	KindContextOverflow   Kind = "context_overflow"   // no
	KindInvalidRequest    Kind = "invalid_request"    // no: also a history the provider rejects
	KindContentFilter     Kind = "content_filter"     // no: refusal, safety
	KindModelNotFound     Kind = "model_not_found"    // no
	KindOutputTruncated   Kind = "output_truncated"   // once, with a larger limit
	KindMisconfigured     Kind = "misconfigured"      // no: wrong base URL, a redirect, a proxy that wants a login
	KindToolFailure       Kind = "tool_failure"       // the model gets the error
	KindStepTimeout       Kind = "step_timeout"       // yes
	KindMaxTurnTime       Kind = "max_turn_time"      // no
	KindRunTimeout        Kind = "run_timeout"        // no
	KindInterrupted       Kind = "interrupted"        // yes: the process died
	KindPromptFailure     Kind = "prompt_failure"     // no: the input could not become a request
	KindInternal          Kind = "internal"           // no: a panic or error in the runner, in an embedder's Model or Tool
	KindBudget            Kind = "budget"             // no: tokens or money used up
	KindRoundLimit        Kind = "round_limit"        // no: the model asked for tools as often as it may
	KindUnknown           Kind = "unknown"            // once
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
	code      Code
	retryable bool
}

// kinds is the table of spec §2.
var kinds = map[Kind]kindFacts{
	KindTimeout:           {CodeProviderTimeout, true},
	KindUnreachable:       {CodeProviderUnreachable, true},
	KindTLS:               {CodeProviderUnreachable, false},
	KindAuth:              {CodeProviderAuth, false},
	KindBilling:           {CodeProviderBilling, false},
	KindRateLimit:         {CodeProviderRateLimited, true},
	KindQuota:             {CodeProviderRateLimited, false},
	KindOverloaded:        {CodeProviderUnavailable, true},
	KindUnavailable:       {CodeProviderUnavailable, true},
	KindStreamInterrupted: {CodeStreamInterrupted, true},
	KindMalformedResponse: {CodeStreamInterrupted, true},
	KindEmptyResponse:     {CodeStreamInterrupted, true},
	KindContextOverflow:   {CodeContextOverflow, false},
	KindInvalidRequest:    {CodeRequestInvalid, false},
	KindContentFilter:     {CodeContentFiltered, false},
	KindModelNotFound:     {CodeModelNotFound, false},
	KindOutputTruncated:   {CodeOutputTruncated, true},
	KindMisconfigured:     {CodeMisconfigured, false},
	KindToolFailure:       {CodeToolFailed, false},
	KindStepTimeout:       {CodeStepTimeout, true},
	KindMaxTurnTime:       {CodeMaxTurnTime, false},
	KindRunTimeout:        {CodeRunTimeout, false},
	KindInterrupted:       {CodeInterrupted, true},
	KindPromptFailure:     {CodePromptFailed, false},
	KindInternal:          {CodeInternal, false},
	KindBudget:            {CodeBudget, false},
	KindRoundLimit:        {CodeRoundLimit, false},
	KindUnknown:           {CodeProviderError, true},
}

// Kinds lists every kind that this version knows, in the order of spec §2.
func Kinds() []Kind {
	return []Kind{
		KindTimeout, KindUnreachable, KindTLS, KindAuth, KindBilling, KindRateLimit, KindQuota,
		KindOverloaded, KindUnavailable, KindStreamInterrupted, KindMalformedResponse,
		KindEmptyResponse, KindContextOverflow, KindInvalidRequest, KindContentFilter,
		KindModelNotFound, KindOutputTruncated, KindMisconfigured, KindToolFailure,
		KindStepTimeout, KindMaxTurnTime, KindRunTimeout, KindInterrupted, KindPromptFailure,
		KindInternal, KindBudget, KindRoundLimit, KindUnknown,
	}
}

// Code is the code of k; a kind that this version does not know has that of KindUnknown.
func (k Kind) Code() Code {
	if facts, ok := kinds[k]; ok {
		return facts.code
	}
	return CodeProviderError
}

// Retryable reports whether the same input may succeed later.
func (k Kind) Retryable() bool {
	if facts, ok := kinds[k]; ok {
		return facts.retryable
	}
	return true
}

// Once reports whether a single retry of k with the same input makes sense, and no more:
// the runner refuses a second one within the same model call.
func (k Kind) Once() bool {
	return k == KindEmptyResponse || k == KindOutputTruncated || k == KindUnknown
}
