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
	if wire == provider.TypeOpenAI {
		for range benchTokens {
			b.WriteString(`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}` + "\n\n")
		}
		b.WriteString(`data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
		return []byte(b.String())
	}
	event := func(name, rest string) { fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", name, name, rest) }
	event("message_start", `,"message":{"id":"m","usage":{"input_tokens":1}}`)
	event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for range benchTokens {
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":" word"}`)
	}
	event("content_block_stop", `,"index":0`)
	event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":500}`)
	event("message_stop", "")
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
