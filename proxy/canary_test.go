package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/telemetry"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	callersKey   = "sk-canary-of-the-caller-0123456789"
	providersKey = "key-of-the-provider"
	canaryWord   = "canaryprompt"
)

// heard keeps what is logged, and what spans tell.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// ExportSpans implements sdktrace.SpanExporter.
func (h *heard) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		_, _ = fmt.Fprintln(h, s.Name(), s.Attributes(), s.Events(), s.Status())
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (h *heard) Shutdown(context.Context) error { return nil }

// events are all that a log knows, as it is stored.
func events(t *testing.T, log timeline.Log) string {
	t.Helper()
	list, err := log.List(t.Context(), timeline.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, s := range list {
		events, err := log.Read(t.Context(), s.Run, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// TestS36Canaries: a caller's own credential reaches the provider that its route names first and
// nobody else, the providers' keys reach nobody but them, and neither they nor what is said is in
// a log, a span, the timeline or an error.
func TestS36Canaries(t *testing.T) {
	route := proxy.Route{
		Match: "*", Models: []string{"$provider/$model", "openai/two"}, AutoRecover: true, Keep: recovery.KeepFigures, CallersKey: true,
	}
	echo := `{"type":"error","error":{"type":"ERROR","message":"wrong: ` + callersKey + ` and ` + providersKey + ` and ` + canaryWord + `"}}`
	said := "I was told " + callersKey + " and " + providersKey + " by you"
	header := map[string]string{"X-Echo": callersKey + providersKey}
	status := func(code int, kind string) faultlab.Step {
		return faultlab.Status(code, header, strings.Replace(echo, "ERROR", kind, 1))
	}
	for name, steps := range map[string][]faultlab.Step{
		"answers":     {faultlab.Answer(said)},
		"refused":     {status(401, "authentication_error")},
		"a mistake":   {status(400, "invalid_request_error")},
		"overloaded":  {status(529, "overloaded_error")},
		"once":        {status(503, "api_error"), faultlab.Answer(said)},
		"cut":         {faultlab.CutAfter(said)},
		"no address":  {faultlab.Refuse()},
		"a tool":      {faultlab.ToolCall("weather", `{"city":"`+callersKey+`"}`)},
		"error event": {faultlab.ErrorEventAfter(said)},
		"redirect":    {faultlab.Status(302, map[string]string{"Location": "https://elsewhere.example/?" + callersKey}, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &heard{}
			spans, err := telemetry.New(t.Context(), telemetry.Config{Spans: kept})
			if err != nil {
				t.Fatal(err)
			}
			log := timeline.NewMemory()
			w := newWorldWith(t, slog.New(slog.NewTextHandler(kept, &slog.HandlerOptions{Level: slog.LevelDebug})),
				[]runner.Option{runner.WithLog(log), runner.WithObserver(spans)}, route)
			w.lab.Script("one", steps...)
			w.lab.Script("two", faultlab.Answer("The other one."))
			w.answerOther(func(rw http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("X-Api-Key"); got != callersKey || strings.Contains(fmt.Sprint(r.Header), providersKey) {
					t.Errorf("forwarded with %q: %v", got, r.Header)
				}
				rw.Header().Set("X-Echo", callersKey)
				_, _ = io.WriteString(rw, echo)
			})
			own := with(anthropicClient, "X-Mulligan-Token", token)
			own.Set("X-Api-Key", callersKey)
			for _, body := range []string{question, strings.Replace(question, `"stream":true,`, "", 1)} {
				body = strings.Replace(body, "hello", canaryWord, 1)
				resp, text := w.ask("POST", "/v1/messages", body, own)
				if all := fmt.Sprint(resp.Header) + text; strings.Contains(all, callersKey) || strings.Contains(all, providersKey) {
					t.Errorf("the caller hears %s", all)
				}
			}
			resp, text := w.ask("GET", "/v1/models", "", own)
			if all := fmt.Sprint(resp.Header) + text; resp.StatusCode != http.StatusOK || strings.Contains(all, callersKey) || strings.Contains(all, providersKey) {
				t.Errorf("the caller hears %d %s", resp.StatusCode, all)
			}
			for _, r := range w.arrived() {
				all := fmt.Sprint(r.URL, r.Header)
				if first := r.URL.Path != "/v1/chat/completions"; strings.Contains(all, callersKey) != first || strings.Contains(all, providersKey) == first || strings.Contains(all, token) {
					t.Errorf("%s got %s", r.URL, all)
				}
			}
			for _, r := range w.requests() {
				if body := string(r.Body); strings.Contains(body, callersKey) || strings.Contains(body, providersKey) {
					t.Errorf("%s got %s", r.Path, body)
				}
			}
			if len(w.requests()) == 0 && name != "no address" {
				t.Error("nobody was asked")
			}
			if err := spans.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
			for where, text := range map[string]string{"logs and spans": kept.String(), "the timeline": events(t, log)} {
				for _, secret := range []string{callersKey, providersKey, token, canaryWord} {
					if i := strings.Index(text, secret); i >= 0 {
						t.Errorf("%s tell %s: %s", where, secret, text[max(0, i-300):min(len(text), i+100)])
					}
				}
			}
		})
	}
}

// TestCallersKeyIsChosen: without its route's leave, or without the token beside it, a caller's own
// key goes nowhere.
func TestCallersKeyIsChosen(t *testing.T) {
	for name, c := range map[string]struct {
		allowed bool
		beside  string
		want    int
		key     string
	}{
		"not allowed":          {false, token, 200, providersKey},
		"allowed":              {true, token, 200, callersKey},
		"no token":             {true, "", 401, ""},
		"another token":        {true, "wrong", 401, ""},
		"another, not allowed": {false, "wrong", 401, ""},
	} {
		route := fallback
		route.CallersKey = c.allowed
		w := newWorld(t, route)
		w.lab.Script("one", faultlab.Answer("All is well."))
		own := anthropicClient.Clone()
		own.Set("X-Api-Key", callersKey)
		if c.beside != "" {
			own.Set("X-Mulligan-Token", c.beside)
		}
		resp, text := w.ask("POST", "/v1/messages", question, own)
		var key string
		for _, r := range w.arrived() {
			key = r.Header.Get("X-Api-Key")
		}
		if resp.StatusCode != c.want || key != c.key {
			t.Errorf("%s: %d with %q: %s", name, resp.StatusCode, key, text)
		}
	}
}

// TestTokenIsNoKey is S36: a caller that sends the token in both places, since that is what its
// environment says, has no key of its own: no provider gets the token.
func TestTokenIsNoKey(t *testing.T) {
	route := fallback
	route.CallersKey = true
	w, got := forwarder(t, route)
	w.lab.Script("one", faultlab.Answer("All is well."))
	both := with(anthropicClient, "X-Mulligan-Token", token, "Authorization", "Bearer "+token)
	w.ask("POST", "/v1/messages", question, both)
	w.ask("POST", "/v1/messages/count_tokens", `{"model":"one"}`, both)
	if len(got) != 1 || len(w.arrived()) != 2 {
		t.Fatalf("%d requests, %d calls", len(w.arrived()), len(w.requests()))
	}
	for _, r := range w.arrived() {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Api-Key") != "key-of-the-provider" {
			t.Errorf("%s got %v", r.URL, r.Header)
		}
	}
}

// TestCallersKeyIsItsOwn: what a caller's own key has used up, or is not allowed, keeps nobody else
// from asking the model.
func TestCallersKeyIsItsOwn(t *testing.T) {
	route := fallback
	route.CallersKey = true
	for _, status := range []int{401, 402, 403} {
		w := newWorld(t, route)
		w.lab.Script("one", faultlab.Status(status, nil, "{}"), faultlab.Answer("All is well."))
		w.lab.Script("two", faultlab.Answer("The other one."))
		own := with(anthropicClient, "X-Mulligan-Token", token, "X-Mulligan-Session", "its own")
		own.Set("X-Api-Key", callersKey)
		w.ask("POST", "/v1/messages", question, own)
		if resp, _ := w.ask("POST", "/v1/messages", question, with(anthropicClient, "X-Mulligan-Session", "another")); resp.Header.Get("X-Mulligan-Model") != "anthropic/one" {
			t.Errorf("%d: another caller is answered by %s", status, resp.Header.Get("X-Mulligan-Model"))
		}
	}
}
