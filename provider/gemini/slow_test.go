package gemini_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/gemini"
)

// TestStopOnEveryChunk: some servers say STOP with every part of an answer, and take
// their time between them. It is whole when nothing more comes.
func TestStopOnEveryChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := faultlab.NewMemListener()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, word := range []string{"one ", "two ", "three"} {
				fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":%q}]},\"finishReason\":\"STOP\"}]}\n\n", word)
				_ = http.NewResponseController(w).Flush()
				time.Sleep(1500 * time.Millisecond)
			}
		})}
		go func() { _ = server.Serve(network) }()
		model, err := gemini.New(gemini.Config{
			Key: func() (string, error) { return "k3y-of-a-test", nil }, BaseURL: "http://127.0.0.1:1",
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return network.Dial(ctx) },
		})
		if err != nil {
			t.Fatal(err)
		}
		var answer llm.Answer
		for delta, err := range model.Stream(t.Context(), llm.Request{Model: "gemini/m", Messages: []llm.Message{llm.User("count")}}) {
			if err != nil {
				t.Fatal(err)
			}
			answer.Add(delta)
		}
		if text := answer.Message("").Text(); text != "one two three" || answer.Stop != llm.StopEnd {
			t.Errorf("%q, %s", text, answer.Stop)
		}
		_ = server.Close()
		time.Sleep(time.Minute)
	})
}
