package failure

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

// TestOneThingInManyWords puts the wordings of one meaning into every form of answer that is known
// to contain them: other statuses, other envelopes, no envelope at all.
func TestOneThingInManyWords(t *testing.T) {
	for _, tt := range []struct {
		kind     Kind
		variant  string
		statuses []int // besides 0, which is an error's text alone
		words    []string
	}{
		{KindContextOverflow, "", []int{400, 413, 422, 500, 200}, []string{
			"prompt is too long: 213462 tokens > 200000 maximum",
			"input is too long for requested model",
			"Your input exceeds the context window of this model",
			"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
			"This model's maximum prompt length is 131072 but the request contains 537812 tokens",
			"Please reduce the length of the messages or completion",
			"This endpoint's maximum context length is 128000 tokens. However, you requested about 200000 tokens",
			"prompt token count of 140000 exceeds the limit of 128000",
			"the request exceeds the available context size, try increasing it",
			"tokens to keep from the initial prompt is greater than the context length",
			"invalid params, context window exceeds limit",
			"Your request exceeded model token limit: 262144 (requested: 300000)",
			"Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
			"prompt too long; exceeded max context length by 4 tokens",
			"too many tokens: size limit exceeded by 3000 tokens",
			"Request body too large for m model. Max size: 8000 tokens.",
			"The decoder prompt (length 40000) is longer than the maximum model length of 32768",
			"Input length 40000 exceeds the maximum length 32768",
			"`inputs` tokens + `max_new_tokens` must be <= 4096: the input token count exceeds it",
		}},
		{KindInvalidRequest, "history", []int{400, 422}, []string{
			"messages.5: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
			"messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_2",
			"No tool output found for function call call_1.",
			"No tool call found for function call output with call_id call_1.",
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
			"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
			"messages.1.content.0: Invalid `signature` in `thinking` block",
			"messages.3: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
			"messages: text content blocks must be non-empty",
			"all messages must have non-empty content except for the optional final assistant message",
			"Function call is missing a thought_signature in functionCall parts",
			"Please ensure that the number of function response parts is equal to the number of function call parts",
		}},
		{KindContentFilter, "", []int{400, 403}, []string{
			"Output blocked by content filtering policy",
			"The response was filtered due to the prompt triggering Azure OpenAI's content management policy",
			"Your prompt was flagged as potentially violating our usage policy",
			"Input data may contain inappropriate content.",
			"The request was rejected because it was considered high risk",
		}},
		{KindBilling, "", []int{400, 402, 403, 429}, []string{
			"Your credit balance is too low to access the API",
			"Insufficient Balance", "You've used up your points!",
			"You have exceeded your monthly included credits for this provider",
			"This request requires more credits, or fewer max_tokens",
			"Budget has been exceeded! Current cost: 12.0, Max budget: 10.0",
		}},
		{KindQuota, "", []int{400, 402, 429}, []string{
			"You have hit your ChatGPT usage limit (plus plan)",
			"Rate limit reached on tokens per day (TPD): Limit 100000, Used 99336",
			"You have reached your weekly limit", "Claude AI usage limit reached|1774008060",
			"You will regain access on 2026-04-01 at 00:00 UTC.",
			"5-hour limit reached, resets 3pm",
		}},
		{KindRateLimit, "", []int{429, 402}, []string{
			"Rate limit reached for requests", "Too many requests, slow down",
		}},
		{KindModelNotFound, "", []int{400, 404}, []string{
			"The model `llama-0` does not exist or you do not have access to it", "model 'llama-0' not found, try pulling it first",
			"models/x is not found for API version v1beta", "x is not a valid model ID", "The provided model identifier is invalid.",
			"The model `m` has been decommissioned and is no longer supported.", "The requested model is not supported.",
			"You don't have access to the model with the specified model ID.",
		}},
	} {
		for _, words := range tt.words {
			quoted, _ := json.Marshal(words)
			bodies := []string{
				words,
				fmt.Sprintf(`{"error":{"message":%s}}`, quoted),
				fmt.Sprintf(`{"detail":%s}`, quoted), fmt.Sprintf(`{"error":%s}`, quoted), fmt.Sprintf(`{"object":"error","message":%s}`, quoted),
			}
			if tt.kind != KindRateLimit { // these words are vague: a specific code would outweigh them
				bodies = append(
					bodies,
					fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, quoted),
					fmt.Sprintf(`{"error":{"code":"400","message":%s,"status":"INVALID_ARGUMENT"}}`, quoted),
				)
			}
			for _, body := range bodies {
				list := []Evidence{{Err: errors.New(body)}}
				for _, status := range tt.statuses {
					list = append(list, Evidence{Status: status, Body: []byte(body)})
				}
				for _, e := range list {
					if d := Diagnose(e); d.Failure.Kind != tt.kind || d.Failure.Variant != tt.variant {
						t.Errorf("%d %s: %s/%s, want %s/%s; by %s", e.Status, body, d.Failure.Kind, d.Failure.Variant, tt.kind, tt.variant, spoken(d))
					}
				}
			}
		}
	}
}

// TestNearMisses are words that resemble those of another kind.
func TestNearMisses(t *testing.T) {
	for _, tt := range []struct {
		status int
		words  string
		want   Kind
	}{
		{429, "Too many tokens, please wait before trying again.", KindRateLimit},
		{429, "Number of request tokens has exceeded your per-minute rate limit", KindRateLimit},
		{429, "Request too large for m on tokens per min (TPM): Limit 30000, Requested 36278", KindRateLimit},
		{400, "context window too small for tools: minimum is 16384", KindInvalidRequest},
		{400, "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens", KindInvalidRequest},
		{402, "Rate limit exceeded, try again in 30s", KindRateLimit},
		{402, "", KindBilling},
		{429, "You exceeded your current quota", KindBilling},
		{429, "Quota exceeded for metric: input_tokens, limit: 10000", KindRateLimit},
		{429, "You have exhausted your capacity on this model. Your quota will reset after 21s.", KindRateLimit},
		{429, "You have exhausted your capacity on this model. Your quota will reset after 3h4m.", KindQuota},
		{503, "The service is temporarily unavailable", KindUnavailable},
		{503, "The service is not available, it is overloaded", KindOverloaded},
		{500, "timeout_ms must be a number", KindUnavailable},
		{400, "'max_tokens' is not supported with this model", KindInvalidRequest},
		{400, "tools.0.name: the wordnsend is not allowed", KindInvalidRequest},
		{400, "The image is expired or forbidden", KindInvalidRequest},
	} {
		d := Diagnose(Evidence{Status: tt.status, Body: []byte(tt.words)})
		if d.Failure.Kind != tt.want {
			t.Errorf("%d %s: %s, want %s; by %s", tt.status, tt.words, d.Failure.Kind, tt.want, spoken(d))
		}
	}
}

// TestDenied: a kind that a message denies is not the message's kind.
func TestDenied(t *testing.T) {
	for message, want := range map[string]Kind{
		"The prompt is 4 tokens, exceeding the 262,144-token context window: a mismatch, not high demand.": KindContextOverflow,
		"This is not a rate limit: the API key is invalid":                                                 KindAuth,
		"Your account is not past due, but the model does not exist":                                       KindModelNotFound,
		"This is not a rate limit, wait: the rate limit of the model is reached":                           KindRateLimit,
		"Could not parse response":                  KindMalformedResponse,
		"The API key is not set, connection closed": KindAuth,
	} {
		if d := Diagnose(inEnvelope(message, 0)); d.Failure.Kind != want {
			t.Errorf("%s, want %s: %s\nby %s", d.Failure.Kind, want, message, spoken(d))
		}
	}
}
