package provider_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/doubling"
	"github.com/mulligan-run/mulligan/llm"
)

// repeated is a piece so often, with its number in place of %d.
func repeated(n int, piece string) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(strings.ReplaceAll(piece, "%d", fmt.Sprint(i)))
	}
	return s.String()
}

func event(data string) string { return "data: " + data + "\n\n" }

// openaiPieces is an event with pieces of tool calls.
func openaiPieces(list string) string {
	return event(`{"choices":[{"index":0,"delta":{"tool_calls":[` + strings.TrimSuffix(list, ",") + `]}}]}`)
}

func openaiDelta(delta string) string {
	return event(`{"choices":[{"index":0,"delta":{` + delta + `}}]}`)
}

const (
	claudeBegin = `data: {"type":"message_start","message":{"id":"m"}}` + "\n\n"
	claudeText  = claudeBegin + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}` + "\n\n"
	claudeTool  = claudeBegin + `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f"}}` + "\n\n"

	responsesBegin = `data: {"type":"response.created","response":{"id":"r"}}` + "\n\n"
	responsesCall  = responsesBegin + `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}}` + "\n\n"
)

// costly are answers that grow with n, by wire: whatever a server may repeat.
var costly = []struct {
	wire, name string
	body       func(n int) string
}{
	{"openai", "small pieces", func(n int) string { return repeated(n, told("x")) }},
	{"openai", "unknown keys", func(n int) string { return event(`{` + repeated(n, `"key%d":1,`) + `"id":"x"}`) }},
	{"openai", "deep", func(n int) string {
		// Small documents are read by another reader, and so both sizes are above those.
		return event(`{"b":"` + strings.Repeat("x", 4*n) + `","a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}},
	{"openai", "a long piece", func(n int) string { return openaiDelta(`"content":"` + strings.Repeat("x", 64*n) + `"`) }},
	{"openai", "parts", func(n int) string {
		return openaiDelta(`"content":[` + repeated(n, `{"type":"text","text":"aaaaaaaa"},`) + `{}]`)
	}},
	{"openai", "parts of thoughts", func(n int) string {
		return openaiDelta(`"content":[{"type":"thinking","thinking":[` + repeated(n, `{"text":"aaaaaaaa"},`) + `{}]}]`)
	}},
	{"openai", "details", func(n int) string {
		return openaiDelta(`"reasoning_details":[` + repeated(n, `{"text":"aaaaaaaa"},`) + `{}]`)
	}},
	{"openai", "choices", func(n int) string { return event(`{"choices":[` + repeated(n, `{"index":%d},`) + `{}]}`) }},
	{"openai", "arguments", func(n int) string {
		return openaiPieces(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":\""}}`) + repeated(n, openaiPieces(`{"index":0,"function":{"arguments":"xxxxxxxx"}}`))
	}},
	{"openai", "arguments before their name", func(n int) string {
		return repeated(n, openaiPieces(`{"index":0,"id":"a","function":{"arguments":"xxxxxxxx"}}`))
	}},
	{"openai", "calls", func(n int) string {
		return openaiPieces(repeated(n, `{"index":%d,"id":"c%d","function":{"name":"f"}},`))
	}},
	{"openai", "ends of a template", func(n int) string { return repeated(n, told("</s>")) }},
	{"openai", "ends of a template at once", func(n int) string { return told(strings.Repeat("</s>", n) + "x") }},
	{"openai", "comments", func(n int) string { return strings.Repeat(": x\n\n", n) }},
	{"openai", "lines of one event", func(n int) string { return strings.Repeat("data:x\n", n) }},
	{"openai", "a line without an end", func(n int) string { return strings.Repeat("x", 64*n) }},
	{"openai", "a document", func(n int) string {
		return `{"choices":[{"finish_reason":"stop","message":{"content":"` + strings.Repeat("x", 16*n) + `",` + repeated(n, `"key%d":1,`) + `"role":"assistant"}}]}`
	}},
	{"openai", "an error", func(n int) string {
		return event(`{"error":{` + repeated(n, `"key%d":1,`) + `"message":"` + strings.Repeat("x", 16*n) + `"}}`)
	}},
	{"anthropic", "small pieces", func(n int) string {
		return claudeText + repeated(n, event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`))
	}},
	{"anthropic", "arguments", func(n int) string {
		return claudeTool + repeated(n, event(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"xxxxxxxx"}}`))
	}},
	{"anthropic", "usages", func(n int) string {
		return claudeText + repeated(n, event(`{"type":"message_delta","usage":{"output_tokens":%d}}`))
	}},
	{"anthropic", "unknown keys", func(n int) string { return event(`{` + repeated(n, `"key%d":1,`) + `"type":"ping"}`) }},
	{"openai-responses", "arguments", func(n int) string {
		return responsesCall + repeated(n, event(`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"xxxxxxxx"}`))
	}},
	{"openai-responses", "items", func(n int) string {
		return responsesBegin + repeated(n, event(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"message"}}`))
	}},
	{"openai-responses", "unknown events", func(n int) string { return responsesBegin + repeated(n, event(`{"type":"new","sequence_number":%d}`)) }},
	{"gemini", "small pieces", func(n int) string { return repeated(n, event(`{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}`)) }},
	{"gemini", "parts", func(n int) string {
		return event(`{"candidates":[{"content":{"parts":[` + repeated(n, `{"text":"x"},`) + `{}]}}]}`)
	}},
	{"gemini", "a list", func(n int) string {
		return event(`[` + repeated(n, `{"candidates":[{"content":{"parts":[{"text":"x"}]}}]},`) + `{}]`)
	}},
}

// TestAnswersOfTwiceTheSize: on every wire the cost of reading an answer, or the body of an error,
// grows with its length and no faster.
func TestAnswersOfTwiceTheSize(t *testing.T) {
	if testing.Short() {
		t.Skip("measures what large inputs cost")
	}
	for _, c := range costly {
		for status, kind := range map[int]string{http.StatusOK: "text/event-stream", http.StatusBadRequest: "application/json"} {
			t.Run(fmt.Sprint(c.wire, " ", c.name, " ", status), func(t *testing.T) {
				body := ""
				model, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					w.Header().Set("Content-Type", kind)
					w.WriteHeader(status)
					_, _ = io.WriteString(w, body)
				}).Model(c.wire + "/m")
				if err != nil {
					t.Fatal(err)
				}
				doubling.Check(t, 4000, func(n int) func() {
					text := c.body(n)
					return func() {
						body = text
						var answer llm.Answer
						for d, err := range model.Stream(t.Context(), ask(c.wire)) {
							if err == nil {
								answer.Add(d)
							}
						}
						_ = answer.Message("m")
					}
				})
			})
		}
	}
}
