package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/timeline"
)

const pasted = "sk-canary-0123456789abcdef"

// memoryKeys keeps keys in memory.
type memoryKeys struct {
	keys map[string]string
	err  error
}

func (p *memoryKeys) Listed() gateway.KeysListed {
	l := gateway.KeysListed{Keeps: true, Providers: []gateway.KeyProvider{{Name: "anthropic", Title: "Anthropic", KeyEnv: "ANTHROPIC_API_KEY", Model: "anthropic/m"}, {Name: "own", KeyEnv: "OWN_KEY"}}}
	for i, provider := range l.Providers {
		l.Providers[i].Kept = p.keys[provider.Name] != ""
	}
	return l
}

func (p *memoryKeys) Local(context.Context) []gateway.LocalServer {
	return []gateway.LocalServer{{Name: "ollama", Title: "Ollama", Models: []string{"ollama/qwen3"}}}
}

func (p *memoryKeys) Keep(provider, key string) error {
	if p.err == nil {
		p.keys[provider] = key
	}
	return p.err
}

func (p *memoryKeys) Forget(provider string) error {
	delete(p.keys, provider)
	return p.err
}

func (p *memoryKeys) Try(context.Context, string) gateway.KeyTried {
	return gateway.KeyTried{Model: "anthropic/m", Failure: &failure.Failure{Kind: failure.KindAuth, Title: "Anthropic rejected the API key"}}
}

func serveKeys(t *testing.T, c gateway.Config) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(gateway.New(c))
	t.Cleanup(s.Close)
	return s
}

// TestKeys: they are kept, tried and forgotten, and neither an answer nor the log has a part of one.
func TestKeys(t *testing.T) {
	var said, log bytes.Buffer
	p := &memoryKeys{keys: map[string]string{}}
	s := serveKeys(t, gateway.Config{Log: timeline.NewMemory(), Keys: p, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	send := func(method, path, body string, want int) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != want {
			t.Errorf("%s %s: %d %s %v", method, path, answer.StatusCode, text, err)
		}
		said.Write(text)
		return string(text)
	}
	send("PUT", "/v1/keys/anthropic", `{"key":"`+pasted+`"}`, http.StatusNoContent)
	if p.keys["anthropic"] != pasted {
		t.Errorf("kept is %q", p.keys)
	}
	if got := send("GET", "/v1/keys", "", http.StatusOK); !strings.Contains(got, `"kept":true`) || !strings.Contains(got, "ollama/qwen3") {
		t.Error(got)
	}
	if got := send("POST", "/v1/keys/anthropic/try", "", http.StatusOK); !strings.Contains(got, "rejected") {
		t.Error(got)
	}
	send("POST", "/v1/keys/own/try", "", http.StatusConflict)
	for _, bad := range []string{pasted + " x", "ä" + pasted, strings.Repeat(pasted, 200), pasted[:7]} {
		send("PUT", "/v1/keys/anthropic", `{"key":"`+bad+`"}`, http.StatusUnprocessableEntity)
	}
	send("PUT", "/v1/keys/anthropic", `{"key":"`+pasted+`","more":"`+pasted+`"}`, http.StatusUnprocessableEntity)
	for _, bad := range []string{`{"key":["` + pasted + `"]}`, `{"` + pasted + `":1}`, `"` + pasted + `"`, `["` + pasted + `"]`, `{"Key":"` + pasted + `"}`} {
		send("PUT", "/v1/keys/anthropic", bad, http.StatusUnprocessableEntity)
	}
	send("PUT", "/v1/keys/nobody", `{"key":"`+pasted+`"}`, http.StatusNotFound)
	send("DELETE", "/v1/keys/anthropic", "", http.StatusNoContent)
	p.err = errors.New("the file of keys is damaged: remove it")
	if got := send("PUT", "/v1/keys/anthropic", `{"key":"`+pasted+`"}`, http.StatusConflict); !strings.Contains(got, "damaged") {
		t.Error(got)
	}
	for _, part := range []string{pasted, pasted[:7]} {
		if strings.Contains(said.String(), part) || strings.Contains(log.String(), part) {
			t.Errorf("a part of a key is answered, or logged:\n%s\n%s", said.String(), log.String())
		}
	}
	if !strings.Contains(log.String(), "a key was kept") || !strings.Contains(log.String(), "a key was forgotten") {
		t.Errorf("the log says %s", log.String())
	}
}

// TestKeysElsewhere: where nobody may set keys up there are none to see, and none is taken.
func TestKeysElsewhere(t *testing.T) {
	s := serveKeys(t, gateway.Config{Log: timeline.NewMemory()})
	var listed gateway.KeysListed
	if code := call(t, "GET", s.URL+"/v1/keys", "", nil, &listed); code != http.StatusOK || listed.Keeps || len(listed.Providers) > 0 {
		t.Errorf("%d %+v", code, listed)
	}
	if code := call(t, "PUT", s.URL+"/v1/keys/anthropic", `{"key":"`+pasted+`"}`, nil, nil); code != http.StatusConflict {
		t.Errorf("%d", code)
	}
}
