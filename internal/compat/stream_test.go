package compat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	openaisdk "github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/mulligan-run/mulligan/faultlab"
)

// BenchmarkStream measures one streamed call from prompt to text through openai-go, in turns with
// bare net/http; package bench's table shows it.
func BenchmarkStream(b *testing.B) {
	text := strings.TrimSpace(strings.Repeat("It is clear in Oslo tonight. And ", 5)) + " cold."
	lab := faultlab.New()
	lab.Script("steady", faultlab.Answer(text))
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	client := openaisdk.NewClient(openaioption.WithBaseURL(server.URL()+"/v1"), openaioption.WithAPIKey("sk-bench"))
	var sdk, bare []time.Duration
	timed := func(spans *[]time.Duration, ask func() (string, error)) {
		began := time.Now()
		got, err := ask()
		*spans = append(*spans, time.Since(began))
		if err != nil || got != text {
			b.Fatalf("got %q, %v", got, err)
		}
	}
	for b.Loop() {
		timed(&sdk, func() (string, error) { return askSDK(b.Context(), &client) })
		timed(&bare, func() (string, error) { return askBare(b.Context(), server.URL()) })
	}
	b.ReportMetric(0, "ns/op")
	for prefix, spans := range map[string][]time.Duration{"": sdk, "base-": bare} {
		slices.Sort(spans)
		b.ReportMetric(float64(spans[len(spans)/2].Nanoseconds())/1e3, prefix+"p50-us")
		b.ReportMetric(float64(spans[(len(spans)-1)*99/100].Nanoseconds())/1e3, prefix+"p99-us")
	}
}

func askSDK(ctx context.Context, client *openaisdk.Client) (string, error) {
	stream := client.Chat.Completions.NewStreaming(ctx, openaisdk.ChatCompletionNewParams{
		Model: "steady", Messages: []openaisdk.ChatCompletionMessageParamUnion{openaisdk.UserMessage("hi")},
		StreamOptions: openaisdk.ChatCompletionStreamOptionsParam{IncludeUsage: openaisdk.Bool(true)},
	})
	defer stream.Close()
	var text strings.Builder
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	return text.String(), stream.Err()
}

func askBare(ctx context.Context, url string) (string, error) {
	const body = `{"model":"steady","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-bench")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var text strings.Builder
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		if string(data) == "[DONE]" {
			_, err := io.Copy(io.Discard, resp.Body)
			return text.String(), err
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return "", err
		}
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	return "", io.ErrUnexpectedEOF
}
