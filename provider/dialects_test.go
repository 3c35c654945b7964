package provider_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider"
)

const (
	chunk = `{"id":"c","choices":[{"delta":{"content":"some text"}}]}`
	begun = `{"type":"message_start","message":{"id":"m"}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"some text"}}`
)

// TestReportedInTheStream has what servers say in the middle of an answer of status
// 200, or as its end, a line an event.
func TestReportedInTheStream(t *testing.T) {
	for name, c := range map[string]struct {
		wire, events string
		want         failure.Kind
		code         string
	}{
		"OpenRouter":            {provider.TypeOpenAI, chunk + "\n" + `{"id":"gen-1","choices":[{"delta":{"content":""},"finish_reason":"error"}],"error":{"code":"server_error","message":"Provider disconnected"}}`, failure.KindUnavailable, "server_error"},
		"OpenRouter, in choice": {provider.TypeOpenAI, chunk + "\n" + `{"choices":[{"delta":{},"finish_reason":"error","error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"X","raw":"slow down"}}}]}`, failure.KindRateLimit, ""},
		"z.ai":                  {provider.TypeOpenAI, chunk + "\n" + `{"choices":[{"delta":{},"finish_reason":"network_error"}]}`, failure.KindUnavailable, "network_error"},
		"z.ai, overflow":        {provider.TypeOpenAI, chunk + "\n" + `{"choices":[{"delta":{},"finish_reason":"model_context_window_exceeded"}]}`, failure.KindContextOverflow, "model_context_window_exceeded"},
		"error as an end":       {provider.TypeOpenAI, chunk + "\n" + `{"choices":[{"delta":{},"finish_reason":"error"}]}`, failure.KindUnavailable, ""},
		"abort":                 {provider.TypeOpenAI, chunk + "\n" + `{"choices":[{"delta":{},"finish_reason":"abort"}]}`, failure.KindStreamInterrupted, "abort"},
		"DeepSeek":              {provider.TypeOpenAI, chunk + "\n" + `{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}`, failure.KindOverloaded, "insufficient_system_resource"},
		"unheard of":            {provider.TypeOpenAI, chunk + "\n" + `{"choices":[{"delta":{},"finish_reason":"gave_up"}]}`, failure.KindStreamInterrupted, "gave_up"},
		"Ollama":                {provider.TypeOpenAI, chunk + "\n" + `{"error":"an error was encountered while running the model: CUDA error"}`, failure.KindUnavailable, ""},
		"LiteLLM":               {provider.TypeOpenAI, chunk + "\n" + `{"error":{"message":"litellm.RateLimitError: RateLimitError: OpenAIException - slow down","type":"None","param":"None","code":"429"}}`, failure.KindRateLimit, ""},
		"vLLM":                  {provider.TypeOpenAI, chunk + "\n" + `{"object":"error","message":"engine died","type":"InternalServerError","param":null,"code":500}`, failure.KindUnavailable, ""},

		"OpenAI's form on Anthropic's wire": {provider.TypeAnthropic, begun + "\n" + `{"error":{"message":"upstream failed","type":"server_error"}}`, failure.KindUnavailable, "server_error"},
		"window exceeded":                   {provider.TypeAnthropic, begun + "\n" + `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`, failure.KindContextOverflow, "model_context_window_exceeded"},
		"a second start":                    {provider.TypeAnthropic, begun + "\n" + `{"type":"message_start","message":{"id":"m"}}`, failure.KindMalformedResponse, ""},
		"a block begins again":              {provider.TypeAnthropic, begun + "\n" + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}`, failure.KindMalformedResponse, ""},
		"a block that never began":          {provider.TypeAnthropic, begun + "\n" + `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"x"}}`, failure.KindMalformedResponse, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, ": PROCESSING\n\ndata: "+strings.ReplaceAll(c.events, "\n", "\n\ndata: ")+"\n\n")
			})
			answer, err := hear(t.Context(), t, s, ask(c.wire))
			f, _ := failure.AsFailure(err)
			if f != nil && f.RequestID == "" {
				t.Error("the failure does not name the request")
			}
			if f == nil || f.Kind != c.want || f.Phase != failure.PhaseMidStream || f.ProviderCode != c.code && c.code != "" {
				t.Errorf("%v: %+v", err, f)
			}
			if answer.Stop != "" || answer.Message("").Text() != "some text" {
				t.Errorf("%+v", answer)
			}
		})
	}
}

// TestRefusals has how imitators refuse a request.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   failure.Kind
	}{
		"OpenRouter, 200":     {200, `{"error":{"code":502,"message":"Provider returned error","metadata":{"provider_name":"X","raw":"upstream"}}}`, failure.KindUnavailable},
		"OpenRouter, credits": {402, `{"error":{"code":402,"message":"Insufficient credits"}}`, failure.KindBilling},
		"OpenRouter, routing": {503, `{"error":{"code":503,"message":"There is no available model provider that meets your routing requirements"}}`, failure.KindModelNotFound},
		"Ollama":              {404, `{"error":"model 'llama9' not found"}`, failure.KindModelNotFound},
		"llama.cpp":           {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, failure.KindOverloaded},
		"LM Studio":           {400, `{"error":{"message":"tokens to keep from the initial prompt is greater than the context length","type":"invalid_request_error","param":null,"code":null}}`, failure.KindContextOverflow},
		"LiteLLM":             {400, `{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: this is too long","type":null,"param":null,"code":"400"}}`, failure.KindContextOverflow},
		"DeepSeek":            {402, `{"error":{"message":"Insufficient Balance"}}`, failure.KindBilling},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := hear(t.Context(), t, s, ask(provider.TypeOpenAI))
		if f, _ := failure.AsFailure(err); f == nil || f.Kind != c.want {
			t.Errorf("%s: %v: %+v", name, err, f)
		}
	}
}
