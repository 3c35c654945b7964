package gateway_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestS34JSONOfOneMeaning: deep, doubled and huge things are refused before anything is
// decoded. The code in a good body is that of the API.
func TestS34JSONOfOneMeaning(t *testing.T) {
	g := guard(t, nil)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ name, body, says string }{
		{"64 levels", `{"prompt":"x","timeouts":` + deep(63) + `}`, ""},
		{"65 levels", `{"prompt":"x","timeouts":` + deep(64) + `}`, "nested deeper"},
		{"a million levels", strings.Repeat(`[`, 1e6), "nested deeper"},
		{"a million objects", strings.Repeat(`{"a":`, 1e6), "nested deeper"},
		{"a key twice", `{"prompt":"a","prompt":"b"}`, "twice"},
		{"a key twice, escaped", `{"prompt":"a","\u0070rompt":"b"}`, "twice"},
		{"a key twice, inside", `{"prompt":"a","budget":{"tokens":1,"tokens":2}}`, "twice"},
		{"a key twice, in an array", `{"prompt":"a","messages":[{},{"role":"user","x":{"y":1},"role":"system"}]}`, "twice"},
		{"a key in two objects", `{"prompt":"prompt","budget":{"prompt":1},"timeouts":{"prompt":["prompt","prompt"]}}`, ""},
		{"a huge number", `{"prompt":"a","maxRetries":1e999}`, "a number"},
		{"a huge negative number", `{"prompt":"a","maxRetries":-1e999}`, "a number"},
		{"a long number", `{"prompt":"a","maxRetries":` + strings.Repeat("1", 100) + `}`, "a number"},
		{"a long fraction", `{"prompt":"a","maxRetries":1.` + strings.Repeat("0", 100) + `}`, "a number"},
		{"not UTF-8", "{\"prompt\":\"\xff\"}", "not UTF-8"},
	} {
		got := g.send("POST", "/v1/runs", c.body, g.bearer())
		refused := got.code == http.StatusBadRequest
		if refused != (c.says != "") || !strings.Contains(got.body, c.says) {
			t.Errorf("%s: %d %s", c.name, got.code, got.body)
		}
	}
}

// FuzzS34JSON: whatever is sent, the gateway answers, and its answers are JSON.
func FuzzS34JSON(f *testing.F) {
	for _, seed := range []string{`{"prompt":"x"}`, `{"a":[{"a":{}},1e5,null,true]}`, `[]]`, `{"a"`, `{"a":1}{"a":1}`, ` `, `{"a":"\ud800"}`, `{1:2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		g := guard(t, nil)
		got := g.send("POST", "/v1/runs", body, g.bearer())
		if got.code >= 500 || !json.Valid([]byte(got.body)) {
			t.Errorf("%d %s", got.code, got.body)
		}
	})
}
