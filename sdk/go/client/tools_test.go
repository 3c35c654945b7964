package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// TestFollowWithTools: what a run awaits is answered once, also where it was awaited before.
func TestFollowWithTools(t *testing.T) {
	given := make(chan string, 9)
	const awaited = `{"seq":5,"status":"waiting","stages":[{"state":"wait_tool"}],"awaited":[{"id":"c1","name":"get_weather","args":{"city":"Oslo"},"key":"k"},{"id":"c2","name":"another","args":{},"key":"l"}]}`
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/runs", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		given <- fmt.Sprint(body["tools"])
		_, _ = w.Write([]byte(`{"id":"r1"}`))
	})
	answered := make(chan struct{})
	waits(mux, awaited, answered)
	mux.HandleFunc("POST /v1/runs/r1/tool-results", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Results []client.ToolResult }
		_ = json.NewDecoder(r.Body).Decode(&body)
		given <- fmt.Sprint(body.Results)
		close(answered)
		_, _ = w.Write([]byte(`{"id":"r1"}`))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	weather := client.Tool{Name: "get_weather", Safety: recovery.SafetyReadOnly, Run: func(_ context.Context, call recovery.AwaitedCall) (string, error) {
		return string(call.Args), nil
	}}
	run, err := c.Start(t.Context(), client.Start{Prompt: "hi", Tools: []client.Tool{weather}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.FollowWithTools(t.Context(), run, 0, weather) {
		if err != nil {
			t.Fatal(err)
		}
	}
	close(given)
	var all []string
	for what := range given {
		all = append(all, what)
	}
	if len(all) != 2 || !strings.Contains(all[0], "get_weather") || !strings.Contains(all[1], `[{c1 {"city":"Oslo"} false}]`) {
		t.Errorf("the gateway was told %q", all)
	}
}

// TestResultsThatAreRefused: of a result that the gateway does not take the model is told, and any
// other refusal ends the iteration, since the run would wait in vain.
func TestResultsThatAreRefused(t *testing.T) {
	for status, told := range map[int]bool{400: true, 413: true, 422: true, 401: false, 403: false} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			over := make(chan struct{})
			var last client.ToolResult
			mux := http.NewServeMux()
			waits(mux, `{"stages":[{"state":"wait_tool"}],"awaited":[{"id":"c1","name":"weather","args":{},"key":"k"}]}`, over)
			mux.HandleFunc("POST /v1/runs/r1/tool-results", func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Results []client.ToolResult }
				_ = json.NewDecoder(r.Body).Decode(&body)
				if last = body.Results[0]; !last.IsError {
					w.WriteHeader(status)
					return
				}
				close(over)
				_, _ = w.Write([]byte(`{"id":"r1"}`))
			})
			server := httptest.NewServer(mux)
			defer server.Close()
			c, err := client.New(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			weather := client.Tool{Name: "weather", Run: func(context.Context, recovery.AwaitedCall) (string, error) { return "mild", nil }}
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			for _, failed := range c.FollowWithTools(ctx, "r1", 0, weather) {
				err = failed
			}
			if ctx.Err() != nil || last.IsError != told || (err == nil) != told {
				t.Errorf("told %+v, %v", last, err)
			}
		})
	}
}

// TestAToolThatPanics: the model is told, and the program lives.
func TestAToolThatPanics(t *testing.T) {
	given := make(chan client.ToolResult, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/runs/r1", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"id":"r1","situation":{"awaited":[{"id":"c1","name":"weather","args":{},"key":"k"}]}}`))
	})
	mux.HandleFunc("GET /v1/runs/r1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("POST /v1/runs/r1/tool-results", func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Results []client.ToolResult }
		_ = json.NewDecoder(r.Body).Decode(&body)
		given <- body.Results[0]
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	weather := client.Tool{Name: "weather", Run: func(context.Context, recovery.AwaitedCall) (string, error) { panic("no thermometer") }}
	go func() {
		for range c.FollowWithTools(ctx, "r1", 0, weather) {
			continue
		}
	}()
	select {
	case r := <-given:
		if !r.IsError || r.Text != "the tool panicked: no thermometer" {
			t.Errorf("%+v", r)
		}
	case <-ctx.Done():
		t.Error("nothing was given")
	}
}

// waits makes mux serve run r1 in a situation, until over is closed.
func waits(mux *http.ServeMux, situation string, over <-chan struct{}) {
	mux.HandleFunc("GET /v1/runs/r1", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"id":"r1","situation":` + situation + `}`))
	})
	mux.HandleFunc("GET /v1/runs/r1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: situation\ndata: " + situation + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-over:
		case <-r.Context().Done():
		}
		_, _ = w.Write([]byte("event: end\ndata: {}\n\n"))
	})
}
