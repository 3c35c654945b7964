package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/provider"
)

const benchTokens = 500

// recording is one answer of benchTokens tokens on a wire.
func recording(wire string) []byte {
	var b strings.Builder
	data := func(format string, args ...any) { fmt.Fprintf(&b, "data: "+format+"\n\n", args...) }
	switch wire {
	case provider.TypeAnthropic:
		event := func(name, rest string) {
			fmt.Fprintf(&b, "event: %s\n", name)
			data(`{"type":%q%s}`, name, rest)
		}
		event("message_start", `,"message":{"id":"m","usage":{"input_tokens":1}}`)
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
		for range benchTokens {
			event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":" word"}`)
		}
		event("content_block_stop", `,"index":0`)
		event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":500}`)
		event("message_stop", "")
	case provider.TypeOpenAI:
		for range benchTokens {
			data(`{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`)
		}
		data(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
		data("[DONE]")
	case provider.TypeResponses:
		data(`{"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress"}}`)
		data(`{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[]}}`)
		for i := range benchTokens {
			data(`{"type":"response.output_text.delta","sequence_number":%d,"item_id":"i","output_index":0,"content_index":0,"delta":" word"}`, i+2)
		}
		data(`{"type":"response.output_item.done","sequence_number":%d,"output_index":0,"item":{"id":"i","type":"message","role":"assistant","status":"completed","content":[]}}`, benchTokens+2)
		data(`{"type":"response.completed","sequence_number":%d,"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":500}}}`, benchTokens+3)
	case provider.TypeGemini:
		for range benchTokens {
			data(`{"candidates":[{"content":{"role":"model","parts":[{"text":" word"}]},"index":0}],"modelVersion":"m","responseId":"g"}`)
		}
		data(`{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":500}}`)
	}
	return []byte(b.String())
}

// BenchmarkStream compares a streamed call of 500 tokens through an adapter with
// net/http reading the same bytes and understanding nothing.
func BenchmarkStream(b *testing.B) {
	for _, wire := range wires {
		body := recording(wire)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(body)
		}))
		b.Run(wire+"/bare", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bare(b, server.URL)
			}
		})
		b.Run(wire+"/adapter", func(b *testing.B) {
			s := set(b, server.URL)
			b.ReportAllocs()
			for b.Loop() {
				if answer, err := hear(context.Background(), b, s, ask(wire)); err != nil || answer.TextBytes != benchTokens*5 {
					b.Fatal(err)
				}
			}
		})
		server.Close()
	}
}

func bare(b *testing.B, url string) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		b.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		b.Fatal(err)
	}
}
