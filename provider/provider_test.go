package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

const key = `test-key/with+"odd"chars=`

var wires = []string{provider.TypeAnthropic, provider.TypeOpenAI, provider.TypeResponses, provider.TypeGemini}

// set is all wires, served at url.
func set(t testing.TB, url string) *provider.Set {
	t.Helper()
	var entries []provider.Entry
	for _, wire := range wires {
		entries = append(entries, provider.Entry{Name: wire, Type: wire, BaseURL: url + version(wire), Key: key})
	}
	s, err := provider.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// version is what a base URL of that wire ends in.
func version(wire string) string {
	if wire == provider.TypeGemini {
		return "/v1beta"
	}
	return "/v1"
}

func start(t testing.TB) (*faultlab.Lab, *provider.Set) {
	t.Helper()
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = lab.Close(), server.Close() })
	return lab, set(t, server.URL())
}

// hear asks and folds the answer.
func hear(ctx context.Context, t testing.TB, s *provider.Set, request llm.Request) (llm.Answer, error) {
	t.Helper()
	model, err := s.Model(request.Model)
	if err != nil {
		t.Fatal(err)
	}
	var answer llm.Answer
	for delta, err := range model.Stream(ctx, request) {
		if err != nil {
			return answer, err
		}
		answer.Add(delta)
	}
	return answer, nil
}

func ask(wire string) llm.Request {
	return llm.Request{Model: wire + "/m", Messages: []llm.Message{llm.User("hi")}}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		step  faultlab.Step
		kind  failure.Kind // "" = an answer
		phase failure.Phase
		text  string
	}{
		{faultlab.Answer("It is 14 °C"), "", "", "It is 14 °C"},
		{faultlab.RateLimited(2 * time.Second), failure.KindRateLimit, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.Unavailable(), "5xx", failure.PhaseBeforeFirstEvent, ""},
		{faultlab.Overloaded(), failure.KindOverloaded, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.Unauthorized(), failure.KindAuth, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.HTML502(), failure.KindUnavailable, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.Refuse(), failure.KindUnreachable, failure.PhaseBeforeFirstEvent, ""},
		{faultlab.CutAfter("some text"), failure.KindStreamInterrupted, failure.PhaseMidStream, "some text"},
		{faultlab.EndAfter("some text"), failure.KindStreamInterrupted, failure.PhaseEndOfStream, "some text"},
		{faultlab.ErrorEventAfter("some text"), failure.KindOverloaded, failure.PhaseMidStream, "some text"},
		{faultlab.Malformed("some text"), failure.KindMalformedResponse, failure.PhaseMidStream, "some text"},
		{faultlab.Empty200(), failure.KindEmptyResponse, failure.PhaseEndOfStream, ""},
	} {
		for _, wire := range wires {
			t.Run(c.step.Name()+"/"+wire, func(t *testing.T) {
				lab, s := start(t)
				lab.Script("m", c.step)
				answer, err := hear(t.Context(), t, s, ask(wire))
				if n := len(lab.Requests()); n != 1 {
					t.Errorf("%d requests", n)
				}
				if got := answer.Message("").Text(); got != c.text {
					t.Errorf("text %q, want %q", got, c.text)
				}
				if c.kind == "" {
					checkWhole(t, answer, err)
					return
				}
				checkFailure(t, answer, err, c.kind, c.phase)
			})
		}
	}
}

func checkWhole(t *testing.T, answer llm.Answer, err error) {
	t.Helper()
	if err != nil || answer.Stop != llm.StopEnd || answer.Usage.InputTokens == 0 || answer.Usage.OutputTokens == 0 || answer.RequestID == "" {
		t.Errorf("%+v, %v", answer, err)
	}
}

func checkFailure(t *testing.T, answer llm.Answer, err error, kind failure.Kind, phase failure.Phase) {
	t.Helper()
	f, ok := failure.AsFailure(err)
	if !ok || answer.Stop != "" {
		t.Fatalf("%+v, %v", answer, err)
	}
	same := f.Kind == kind || kind == "5xx" && (f.Kind == failure.KindOverloaded || f.Kind == failure.KindUnavailable)
	if !same || f.Phase != phase {
		t.Errorf("kind %s, phase %s; want %s, %s: %v", f.Kind, f.Phase, kind, phase, f)
	}
	if f.Kind == failure.KindRateLimit && f.RetryAfter != 2000 {
		t.Errorf("retry after %d ms", f.RetryAfter)
	}
	named := f.RequestID != "" || f.Provider == provider.TypeGemini // which names no request where it fails
	if f.HTTPStatus != 0 && !named || f.Provider == "" || f.Title == "" {
		t.Errorf("%+v", f)
	}
}

func TestCancelIsPassedOn(t *testing.T) {
	why := errors.New("the runner's own reason")
	for _, step := range []faultlab.Step{faultlab.Hang(), faultlab.StallAfter("some text")} {
		for _, wire := range wires {
			lab, s := start(t)
			lab.Script("m", step)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
			if _, err := hear(ctx, t, s, ask(wire)); err != why { //nolint:errorlint // unwrapped is the promise
				t.Errorf("%s on %s: %v", step.Name(), wire, err)
			}
		}
	}
}

// TestSwitch carries a conversation with tool calls from each wire to each other.
func TestSwitch(t *testing.T) {
	for _, from := range wires {
		for _, to := range wires {
			if from != to {
				t.Run(from+" to "+to, func(t *testing.T) { carry(t, from, to) })
			}
		}
	}
}

func carry(t *testing.T, from, to string) {
	lab, s := start(t)
	lab.Script("m", faultlab.ToolCalls("Let me see.", faultlab.Call{Name: "weather", Args: `{"city":"Köln"}`}, faultlab.Call{Name: "time"}), faultlab.Answer("Fine."))
	request := ask(from)
	request.Tools = []llm.Tool{{Name: "weather"}, {Name: "time", Schema: json.RawMessage(`{"type":"object"}`)}}
	answer, err := hear(t.Context(), t, s, request)
	if err != nil || answer.Stop != llm.StopToolUse {
		t.Fatalf("%v, %+v", err, answer)
	}
	said := answer.Message(request.Model)
	calls := said.Calls()
	if len(calls) != 2 || string(calls[0].Args) != `{"city":"Köln"}` || string(calls[1].Args) != "{}" {
		t.Fatalf("calls %+v", calls)
	}
	said.Parts = append([]llm.Part{{Thinking: &llm.Thinking{Text: "hidden plan", Signature: "sig"}}}, said.Parts...)
	// The second call stays without its result, as after a crash.
	result := llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Result: &llm.ToolResult{CallID: calls[0].ID, Name: "weather", Text: "14 °C"}}}}
	request.Messages = append(request.Messages, said, result, llm.User("and?"))
	request.Model = to + "/m"
	if answer, err := hear(t.Context(), t, s, request); err != nil || answer.Message("").Text() != "Fine." {
		t.Fatalf("%v, %+v", err, answer)
	}
	last := lab.Requests()[1]
	if strings.Contains(string(last.Body), "hidden plan") || !strings.Contains(string(last.Body), "No result provided") {
		t.Errorf("sent %s", last.Body)
	}
}

func TestNothingIsSent(t *testing.T) {
	lab, s := start(t)
	lab.Script("m", faultlab.Answer("x"))
	for name, spoil := range map[string]func(*llm.Request){
		"no messages":    func(r *llm.Request) { r.Messages = nil },
		"empty messages": func(r *llm.Request) { r.Messages = []llm.Message{llm.User("  ")} },
		"schema":         func(r *llm.Request) { r.Tools = []llm.Tool{{Name: "f", Schema: json.RawMessage(`{`)}} },
		"args": func(r *llm.Request) {
			call := llm.ToolCall{ID: "1", Name: "f", Args: json.RawMessage(`{"a":`)}
			r.Messages = append(r.Messages, llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &call}}})
		},
		"picture": func(r *llm.Request) {
			r.Messages[0].Parts = []llm.Part{{Image: &llm.Image{MediaType: "image/png"}}}
		},
	} {
		for _, wire := range wires {
			request := ask(wire)
			spoil(&request)
			_, err := hear(t.Context(), t, s, request)
			f, ok := failure.AsFailure(err)
			if !ok || f.Kind != failure.KindPromptFailure || f.Origin != failure.OriginPrompt || f.Phase != failure.PhasePrompt || f.Detail == "" {
				t.Errorf("%s on %s: %v", name, wire, err)
			}
		}
	}
	if n := len(lab.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestMissingKey(t *testing.T) {
	s, err := provider.New(provider.Defaults(), provider.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	for wire, env := range map[string]string{
		"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "openai-responses": "OPENAI_API_KEY",
		"gemini": "GEMINI_API_KEY", "openrouter": "OPENROUTER_API_KEY",
	} {
		_, err := hear(t.Context(), t, s, ask(wire))
		f, ok := failure.AsFailure(err)
		if !ok || f.Kind != failure.KindAuth || f.Variant != failure.VariantKeyMissing || f.Phase != failure.PhasePrompt || !strings.Contains(f.Detail+f.Message, env) {
			t.Errorf("%s: %+v", wire, f)
		}
		if s.Has(wire + "/m") {
			t.Errorf("%s has a key", wire)
		}
	}
}

// TestBrokenKey: of a key that is set and cannot be sent it is said what is wrong with it, and not to
// set what is set.
func TestBrokenKey(t *testing.T) {
	for _, key := range []string{"sk two", "sk-one\ntwo", "sk-ü"} {
		s, err := provider.New(provider.Defaults(), provider.WithEnv(func(name string) string { return map[string]string{"OPENAI_API_KEY": key}[name] }))
		if err != nil {
			t.Fatal(err)
		}
		_, err = hear(t.Context(), t, s, ask("openai"))
		f, ok := failure.AsFailure(err)
		if !ok || f.Kind != failure.KindAuth || strings.Contains(f.Message, "export") || strings.Contains(f.Message, key) || !strings.Contains(f.Message, "OPENAI_API_KEY contains a space") {
			t.Errorf("%q: %+v", key, f)
		}
	}
}

// serve answers every request with handler, and counts nothing.
func serve(t testing.TB, handler http.HandlerFunc) *provider.Set {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return set(t, server.URL)
}

func TestKeyIsHidden(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key") + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		quoted, _ := json.Marshal("bad key " + got)
		w.Header().Set("X-Request-Id", got)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"type":"authentication_error","message":%s}}`, quoted)
	})
	for _, wire := range wires {
		_, err := hear(t.Context(), t, s, ask(wire))
		f, _ := failure.AsFailure(err)
		if f == nil || f.Kind != failure.KindAuth {
			t.Fatal(err)
		}
		stored, _ := json.Marshal(f)
		for _, part := range []string{"with+", "odd", "test-key"} {
			if strings.Contains(f.Error()+string(stored), part) {
				t.Errorf("%s: %s", wire, stored)
			}
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	reached := make(chan string, 4)
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.URL.Path }))
	t.Cleanup(evil.Close)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, evil.URL+"/x", http.StatusTemporaryRedirect)
	})
	for _, wire := range wires {
		_, err := hear(t.Context(), t, s, ask(wire))
		if f, _ := failure.AsFailure(err); f == nil || f.Kind != failure.KindMisconfigured || f.HTTPStatus != 307 {
			t.Errorf("%s: %v", wire, err)
		}
	}
	if len(reached) != 0 {
		t.Error("the redirect was followed")
	}
}

func TestNoStream(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		want       failure.Kind
	}{
		{"text/html", "<html><body>Please log in to Hotel WiFi</body></html>", failure.KindUnreachable},
		{"text/event-stream", "<html><body>Please log in</body></html>", failure.KindUnreachable},
		{"application/json", `{"error":{"message":"upstream unavailable","type":"server_error","code":502}}`, failure.KindUnavailable},
		{"text/event-stream", `{"error":{"message":"upstream unavailable","type":"server_error","code":502}}`, failure.KindUnavailable},
		{"application/json", `{"id":"msg_1","content":[]}`, failure.KindMalformedResponse},
		{"application/json", ``, failure.KindEmptyResponse},
		{"text/event-stream", ": ping\n\n", failure.KindEmptyResponse},
		{"text/event-stream", "data: " + strings.Repeat("x", 5<<20) + "\n\n", failure.KindMalformedResponse},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			_, _ = io.WriteString(w, c.body)
		})
		for _, wire := range wires {
			_, err := hear(t.Context(), t, s, ask(wire))
			if f, _ := failure.AsFailure(err); f == nil || f.Kind != c.want {
				t.Errorf("%s %.30q on %s: %v", c.kind, c.body, wire, err)
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a port that nobody serves
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	listener.Close()
	for _, wire := range wires {
		_, err := hear(t.Context(), t, set(t, url), ask(wire))
		if f, _ := failure.AsFailure(err); f == nil || f.Kind != failure.KindUnreachable || f.Phase != failure.PhaseBeforeConnect {
			t.Errorf("%s: %v", wire, err)
		}
	}
}

func TestUntrustedCertificate(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	for _, wire := range wires {
		_, err := hear(t.Context(), t, set(t, server.URL), ask(wire))
		if f, _ := failure.AsFailure(err); f == nil || f.Kind != failure.KindTLS {
			t.Errorf("%s: %v", wire, err)
		}
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	lab := faultlab.New()
	lab.Script("m", faultlab.Answer("one two three"))
	fresh := make(chan struct{}, 100)
	server := httptest.NewUnstartedServer(lab)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			fresh <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(func() { _ = lab.Close(); server.Close() })
	s := set(t, server.URL)
	for range 10 {
		if _, err := hear(t.Context(), t, s, ask(provider.TypeAnthropic)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond) // the drain runs beside
	}
	if n := len(fresh); n > 5 {
		t.Errorf("%d connections for 10 calls", n)
	}
}

func TestSetNames(t *testing.T) {
	s := set(t, "http://127.0.0.1:1")
	for full, want := range map[string]string{
		"m": "provider/model", "nobody/m": "anthropic, openai", "anthropic/": "provider/model", "anthropic/m" + strings.Repeat("m", 300): "256 bytes",
		"anthropic/\x1b[2J": "are seen", "anthropic/\u202em": "are seen", "anthropic/\u009bm": "are seen", "anthropic/a b": "are seen", "anthropic/\xff": "are seen", "anthropic/a\u200bb": "are seen",
	} {
		if _, err := s.Model(full); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 2000 {
			t.Errorf("%q: %v", full, err)
		}
	}
	if !s.Has("openai/m") || !s.Loopback("openai/m") || s.Has("nobody/m") {
		t.Error("Has or Loopback is wrong")
	}
	for _, bad := range []provider.Entry{
		{Name: "a/b", Type: "openai"},
		{Name: "a", Type: "smoke"},
		{Name: "a", Type: "openai", BaseURL: "http://example.com"},
		{Name: "a", Type: "openai", BaseURL: "https://169.254.169.254"},
		{Name: "a", Type: "openai", BaseURL: "https://10.0.0.1"},
		{Name: "a", Type: "openai", BaseURL: "https://user:pass@example.com"},
		{Name: "a", Type: "openai", BaseURL: "ftp://example.com"},
	} {
		if _, err := provider.New([]provider.Entry{bad}); err == nil || strings.Contains(err.Error(), "pass") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestNoSet: a program that goes on without the models that New refused is told so, and does not break.
func TestNoSet(t *testing.T) {
	models, err := provider.New([]provider.Entry{{Name: "lab", Type: "carrier-pigeon"}})
	if err == nil {
		t.Fatal("there are pigeons")
	}
	if _, err := models.Model("lab/one"); err == nil || !strings.Contains(err.Error(), "provider.New") {
		t.Errorf("the model: %v", err)
	}
}
