package provider_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/provider/openai"
)

// documents are whole answers on each wire, with reasoning, text and a call.
var documents = map[string]string{
	provider.TypeAnthropic: `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"See:"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":5}}`,
	provider.TypeOpenAI:    `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"Hm.","content":"See:","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`,
	provider.TypeResponses: `{"id":"r1","object":"response","status":"completed","error":null,"output":[{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hm."}]},{"type":"message","content":[{"type":"output_text","text":"See:"}]},{"type":"function_call","call_id":"t1","name":"f","arguments":"{\"a\":1}"}],"usage":{"input_tokens":3,"output_tokens":5}}`,
	provider.TypeGemini:    `{"responseId":"g1","candidates":[{"content":{"parts":[{"text":"Hm.","thought":true},{"text":"See:"},{"functionCall":{"id":"t1","name":"f","args":{"a":1}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5}}`,
}

// TestWholeDocuments: a server that sends one document although a stream was asked for has
// answered.
func TestWholeDocuments(t *testing.T) {
	for wire, document := range documents {
		for _, kind := range []string{"application/json", "text/event-stream"} {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, document)
			})
			answer, err := hear(t.Context(), t, s, ask(wire))
			m := answer.Message("m")
			if err != nil || m.Text() != "See:" || len(m.Calls()) != 1 || string(m.Calls()[0].Args) != `{"a":1}` || m.Calls()[0].ID != "t1" ||
				m.Parts[0].Thinking == nil || m.Parts[0].Thinking.Text != "Hm." || answer.Stop != llm.StopToolUse || answer.Usage.InputTokens != 3 || answer.Usage.OutputTokens != 5 {
				t.Errorf("%s as %s: %v, %+v", wire, kind, err, answer)
			}
		}
	}
}

// TestHalfADocument: one that is cut anywhere is none.
func TestHalfADocument(t *testing.T) {
	for wire, document := range documents {
		cut := 0
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, document[:cut])
		})
		for cut = 1; cut < len(document); cut += 7 {
			answer, err := hear(t.Context(), t, s, ask(wire))
			if f, _ := failure.AsFailure(err); f == nil || answer.Stop != "" || answer.TextBytes != 0 {
				t.Errorf("%s cut at %d: %v, %+v", wire, cut, err, answer)
			}
		}
	}
}

// TestSilenceAfterTheEnd: what may follow a finish_reason is waited for 0.3 s, and a complete
// answer is not lost if its caller's deadline comes before.
func TestSilenceAfterTheEnd(t *testing.T) {
	for _, patience := range []time.Duration{time.Hour, 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			network := faultlab.NewMemListener()
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprintf(w, "data: %s\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", chunk)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})}
			go func() { _ = server.Serve(network) }()
			model, err := openai.New(openai.Config{
				Key: func() (string, error) { return key, nil }, BaseURL: "http://127.0.0.1:1",
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return network.Dial(ctx) },
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			var answer llm.Answer
			for delta, err := range model.Stream(ctx, llm.Request{Model: "openai/m", Messages: []llm.Message{llm.User("hi")}}) {
				if err != nil {
					t.Errorf("%s: %v", patience, err)
				}
				answer.Add(delta)
			}
			if took := time.Since(began); answer.Stop != llm.StopEnd || took != min(patience, 300*time.Millisecond) {
				t.Errorf("%s: %+v after %s", patience, answer, took)
			}
			_ = server.Close()
			time.Sleep(time.Minute)
		})
	}
}
