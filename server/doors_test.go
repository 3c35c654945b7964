package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
)

// served is a serve that goes on, and its provider.
type served struct {
	*testing.T
	url, token, state string
	lab               *faultlab.Lab
}

// serveLab serves with a provider on this machine, which answers lists of models, too.
func serveLab(t *testing.T, more string) *served {
	t.Helper()
	lab := faultlab.New(faultlab.WithPace(0))
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"data":["of the provider"],"asked":"`+r.URL.Path+`"}`)
			return
		}
		lab.ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	state := t.TempDir()
	path := filepath.Join(state, "mulligan.yaml")
	text := strings.ReplaceAll(`
model: anthropic/one
fallbacks: [openai/two]
state: `+state+`
plugins: []
providers:
  anthropic: {base_url: "$LAB", key_env: LAB_KEY}
  openai: {base_url: "$LAB/v1", key_env: LAB_KEY}
`+more, "$LAB", upstream.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LAB_KEY", "key-of-the-provider")
	t.Setenv("GEMINI_API_KEY", "")
	c, err := config.Load(path, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- srv.Serve(ctx, &Reach{Address: "127.0.0.1:0"}, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	s := &served{T: t, lab: lab, state: state}
	for deadline := time.Now().Add(time.Minute); s.url == ""; time.Sleep(10 * time.Millisecond) {
		list, err := ListeningNow(state)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("it does not listen: %v", err)
		}
		for _, l := range list {
			s.url = l.URL
		}
	}
	if s.token, err = gateway.ReadToken(state); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNotReady: /readyz asks whether the store takes runs, and not only whether it can be read.
func TestNotReady(t *testing.T) {
	s := serveLab(t, "")
	store := filepath.Join(s.state, "timeline.db")
	if err := os.Rename(store, store+" elsewhere"); err != nil {
		t.Fatal(err)
	}
	status, _, text := s.ask("GET", "/readyz", "")
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "it is gone") {
		t.Errorf("%d %s", status, text)
	}
	if err := os.Rename(store+" elsewhere", store); err != nil {
		t.Fatal(err)
	}
}

// ask makes a request with those headers; TOKEN in them is the installation's.
func (s *served) ask(method, path, body string, header ...string) (status int, kind, text string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], strings.ReplaceAll(header[i+1], "TOKEN", s.token))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(said)
}

// TestDoorsOfServe: what clients of the providers' APIs ask is answered at the gateway's address,
// to whoever sends its token where that client sends its key, and the gateway's own API stays.
func TestDoorsOfServe(t *testing.T) {
	s := serveLab(t, "")
	s.lab.Script("one", faultlab.Answer("All is well."))
	const call = `{"model":"one","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`
	const contents = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		want               int
		says               string
	}{
		"messages":                  {"POST", "/v1/messages", call, []string{"X-Api-Key", "TOKEN"}, 200, "All is well."},
		"messages, bearer":          {"POST", "/v1/messages?beta=true", call, []string{"Authorization", "Bearer TOKEN", "Anthropic-Version", "2023-06-01"}, 200, "All is well."},
		"chat":                      {"POST", "/v1/chat/completions", call, []string{"Authorization", "Bearer TOKEN"}, 200, "All is well."},
		"gemini, which has no key":  {"POST", "/v1beta/models/one:generateContent", contents, []string{"X-Goog-Api-Key", "TOKEN"}, 401, "GEMINI_API_KEY"},
		"another token":             {"POST", "/v1/messages", call, []string{"X-Api-Key", "sk-ant"}, 401, `"type":"error"`},
		"no token":                  {"POST", "/v1/chat/completions", call, nil, 401, `"error"`},
		"another page":              {"POST", "/v1/chat/completions", call, []string{"Authorization", "Bearer TOKEN", "Origin", "https://evil.example"}, 403, `"error"`},
		"models of Anthropic":       {"GET", "/v1/models", "", []string{"X-Api-Key", "TOKEN", "Anthropic-Version", "2023-06-01"}, 200, "of the provider"},
		"models of OpenAI":          {"GET", "/v1/models", "", []string{"Authorization", "Bearer TOKEN", "X-Stainless-Lang", "go"}, 200, "of the provider"},
		"models of Mulligan":        {"GET", "/v1/models", "", []string{"Authorization", "Bearer TOKEN"}, 200, "anthropic/one"},
		"files":                     {"GET", "/v1/files/f", "", []string{"Authorization", "Bearer TOKEN"}, 200, "of the provider"},
		"runs, whatever the client": {"GET", "/v1/runs", "", []string{"Authorization", "Bearer TOKEN", "X-Stainless-Lang", "go"}, 200, `"runs"`},
		"runs with another's key":   {"GET", "/v1/runs", "", []string{"X-Api-Key", "TOKEN"}, 401, "Authorization: Bearer"},
		"the page":                  {"GET", "/", "", nil, 200, "<html"},
		"nothing":                   {"GET", "/v1/nothing", "", []string{"Authorization", "Bearer TOKEN"}, 404, "nothing here"},
	} {
		status, kind, text := s.ask(c.method, c.path, c.body, c.header...)
		if status != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s %s", name, status, kind, text)
		}
		if strings.Contains(text, "key-of-the-provider") {
			t.Errorf("%s: S36: the provider's key is told: %s", name, text)
		}
	}
}

// TestTheAPIIsTheGateways: the proxy takes no path from the gateway's API but the list of models.
func TestTheAPIIsTheGateways(t *testing.T) {
	s := serveLab(t, "")
	status, _, text := s.ask("GET", "/openapi.json", "", "Authorization", "Bearer TOKEN")
	var document struct{ Paths map[string]any }
	if err := json.Unmarshal([]byte(text), &document); err != nil || status != 200 {
		t.Fatalf("%d %v", status, err)
	}
	for path := range document.Paths {
		rest, ok := strings.CutPrefix(path, "/v1/")
		root, _, _ := strings.Cut(rest, "/")
		if ok && root != "models" && !slices.Contains(ofTheAPI, root) {
			t.Errorf("%s is not the gateway's", path)
		}
	}
}

// TestDoorsOfTheDemo: what is no model's call reaches the demo's provider as any other.
func TestDoorsOfTheDemo(t *testing.T) {
	s := serveLab(t, "\nproxy: {routes: [{match: \"*\", models: [fable/fable-1, atlas/atlas-1]}]}\n")
	for path, header := range map[string][]string{
		"/v1/models":  {"X-Api-Key", "TOKEN", "Anthropic-Version", "2023-06-01"},
		"/v1/files/f": {"Authorization", "Bearer TOKEN"},
	} {
		status, _, text := s.ask("GET", path, "", header...)
		if !strings.Contains(text, "no such route") { // the fault lab says so
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}
