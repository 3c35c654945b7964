package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/proxy"
)

// TestNobodyGoesOn: an answer that must be in one piece, or that needs what only its provider has,
// is not continued by a call that knows nothing of that: it ends with an error.
func TestNobodyGoesOn(t *testing.T) {
	const chat, ask = "/v1/chat/completions", `"model":"one","stream":true,"messages":[{"role":"user","content":"hello"}]`
	for name, c := range map[string]struct{ path, body string }{
		"two answers":                    {chat, `{"n":2,` + ask + `}`},
		"words to stop at":               {chat, `{"stop":["END"],` + ask + `}`},
		"a form of the answer":           {chat, `{"response_format":{"type":"json_object"},` + ask + `}`},
		"a prompt that the provider has": {"/v1/responses", `{"model":"one","stream":true,"prompt":{"id":"pmpt_1"},"input":"and then?"}`},
		"a picture from elsewhere":       {"/v1/messages", `{"model":"one","max_tokens":500,"stream":true,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://pictures.example/1.png"}},{"type":"text","text":"What is it?"}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fallback)
			w.lab.Script("one", faultlab.CutAfter("It begins so"))
			w.lab.Script("two", faultlab.Answer("and ends like this."))
			_, text := w.post(c.path, c.body)
			if !strings.Contains(text, "begins") || !strings.Contains(text, `"error"`) || strings.Contains(text, "ends") {
				t.Errorf("it is %s", text)
			}
			if n := len(w.requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestUnstreamedIsNotShown: a caller that does not stream has seen nothing of an answer that was cut,
// so that it is asked for again in every mode.
func TestUnstreamedIsNotShown(t *testing.T) {
	for _, mode := range []proxy.Mode{proxy.ModeContinue, proxy.ModeHold, proxy.ModeError} {
		route := fallback
		route.Models, route.Mode = []string{"openai/one"}, mode
		w := newWorld(t, route)
		w.lab.Script("one", faultlab.CutAfter("It begins so"), faultlab.Answer("All is well."))
		resp, text := w.post("/v1/messages", strings.Replace(question, `"stream":true,`, "", 1))
		if resp.StatusCode != http.StatusOK || !strings.Contains(text, `"All is well."`) {
			t.Errorf("%s: %d %s", mode, resp.StatusCode, text)
		}
	}
}
