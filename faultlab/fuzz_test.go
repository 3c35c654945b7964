package faultlab_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// FuzzRequest: whatever a request says, on any wire, is answered or refused in
// the wire's shape.
func FuzzRequest(f *testing.F) {
	for i, s := range sides {
		f.Add(uint8(i), s.ask)
	}
	f.Add(uint8(0), `{"model":"m","max_tokens":2048,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[`+user+","+anthropicThought+","+anthropicResult+`]}`)
	f.Add(uint8(1), `{"model":"m","messages":[`+user+","+openaiUse+","+openaiResult+`]}`)
	for _, c := range responsesCases {
		f.Add(uint8(2), `{"model":"m","input":[`+c.input+`]}`)
	}
	for _, c := range geminiCases {
		f.Add(uint8(3), `{"contents":[`+c.contents+`],"tools":[{"function_declarations":[{"name":"f","parameters":{"items":{}}}]}]}`)
	}
	lab := faultlab.New()
	lab.Script("", faultlab.Thinking("hm", faultlab.ToolCalls("x", faultlab.Call{Name: "f"})))
	f.Fuzz(func(t *testing.T, wire uint8, body string) {
		s := sides[int(wire)%len(sides)]
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.path, strings.NewReader(body))
		for k, v := range s.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		lab.ServeHTTP(w, r)
		var e envelope
		switch w.Code {
		case http.StatusOK:
		case http.StatusBadRequest, http.StatusNotFound:
			if json.Unmarshal(w.Body.Bytes(), &e) != nil || e.Error.Message == "" || e.Error.Type+e.Error.Status == "" {
				t.Errorf("refused with %s", w.Body)
			}
		default:
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}
