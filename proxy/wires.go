package proxy

import (
	"net/http"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
	"github.com/mulligan-run/mulligan/wire/gemini"
	"github.com/mulligan-run/mulligan/wire/openai"
	"github.com/mulligan-run/mulligan/wire/responses"
)

// dialect is a wire from the callers' side.
type dialect struct {
	entry    string // of its own provider, which routes call $provider
	idPrefix string // of an answer's id
	id       string // the key of an answer's id, with quotes
	part     string // the key of the number of a part of an answer, with quotes; "" = parts have none
	ends     string // the type of the event that ends a part, with quotes
	decode   func(body []byte) (wire.Asked, error)
	voice    func(a asked, head wire.Head) wire.Voice
	document func(head wire.Head, said llm.Message, stop llm.StopReason, usage llm.Usage) []byte
	report   func(kind failure.Kind, status int, message string) wire.Report
	refusal  func(report wire.Report) []byte
	usage    usage
}

// asked is a call as it came in.
type asked struct {
	wire.Asked
	dialect *dialect
	array   bool // a stream of Gemini's as a JSON array
	body    []byte
}

var messages = &dialect{
	entry: "anthropic", idPrefix: "msg_", id: `"id"`, part: `"index"`, ends: `"content_block_stop"`, decode: anthropic.Decode, document: anthropic.Document,
	voice:   func(_ asked, head wire.Head) wire.Voice { return anthropic.NewVoice(head) },
	report:  anthropic.Report,
	refusal: func(report wire.Report) []byte { return anthropic.ErrorBody(report, "") },
	usage: namedUsage("usage", func(u llm.Usage) []number {
		return []number{
			{"input_tokens", u.InputTokens},
			{"output_tokens", u.OutputTokens},
			{"cache_read_input_tokens", u.CacheReadTokens},
			{"cache_creation_input_tokens", u.CacheWriteTokens},
		}
	}),
}

var chat = &dialect{
	entry: "openai", idPrefix: "chatcmpl-", id: `"id"`, decode: openai.Decode, document: openai.Document,
	voice:   func(a asked, head wire.Head) wire.Voice { return openai.NewVoice(head, a.Usage) },
	report:  openai.Report,
	refusal: openai.ErrorBody,
	usage: namedUsage("usage", func(u llm.Usage) []number {
		return []number{
			{"prompt_tokens", input(u)},
			{"completion_tokens", u.OutputTokens},
			{"total_tokens", u.Total()},
			{"prompt_tokens_details.cached_tokens", u.CacheReadTokens},
		}
	}),
}

var responsesAPI = &dialect{
	entry: "openai-responses", idPrefix: "resp_", id: `"id"`, part: `"output_index"`, ends: `"response.output_item.done"`, decode: responses.Decode, document: responses.Document,
	voice:   func(_ asked, head wire.Head) wire.Voice { return responses.NewVoice(head) },
	report:  openai.Report,
	refusal: openai.ErrorBody,
	usage: namedUsage("usage", func(u llm.Usage) []number {
		return []number{
			{"input_tokens", input(u)},
			{"output_tokens", u.OutputTokens},
			{"total_tokens", u.Total()},
			{"input_tokens_details.cached_tokens", u.CacheReadTokens},
		}
	}),
}

var generate = &dialect{
	entry: "gemini", id: `"responseId"`, decode: gemini.Decode, document: gemini.Document,
	voice:   func(a asked, head wire.Head) wire.Voice { return gemini.NewVoice(head, a.array) },
	report:  gemini.Report,
	refusal: gemini.ErrorBody,
	usage: namedUsage("usageMetadata", func(u llm.Usage) []number {
		return []number{
			{"promptTokenCount", input(u)},
			{"candidatesTokenCount", u.OutputTokens},
			{"totalTokenCount", u.Total()},
			{"cachedContentTokenCount", u.CacheReadTokens},
		}
	}),
}

// door finds the wire that a path belongs to, nil if it is not a model call. A Gemini path names
// the model, and says whether the answer is streamed. The version may be missing, because
// libraries disagree on whether the base URL contains it (ANTHROPIC_BASE_URL has none for
// Anthropic's own library, and one for the Vercel AI SDK).
func door(r *http.Request) (d *dialect, model string, stream bool) {
	switch strings.TrimPrefix(r.URL.Path, "/v1") {
	case "/messages":
		return messages, "", false
	case "/chat/completions":
		return chat, "", false
	case "/responses":
		return responsesAPI, "", false
	default:
		rest, ok := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
		model, method, _ := strings.Cut(rest, ":")
		if !ok || model == "" || method != "generateContent" && method != "streamGenerateContent" {
			return nil, "", false
		}
		return generate, model, method == "streamGenerateContent"
	}
}
