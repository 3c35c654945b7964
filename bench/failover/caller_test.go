package failover

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// dialect is how a caller speaks a wire, written independently of the code under test.
type dialect struct {
	path, body string
	ends       string // found only in the proper end of an answer
	fails      string // found only in an error
	text       func(event []byte) string
}

const question = "How is the weather in Oslo?"

var dialects = map[string]dialect{
	"anthropic": {
		path: "/v1/messages", ends: `"message_stop"`, fails: `"type":"error"`,
		body: `{"model":"one","max_tokens":500,"stream":true,"messages":[{"role":"user","content":"` + question + `"}]}`,
		text: func(event []byte) string {
			var e struct{ Delta struct{ Text string } }
			_ = json.Unmarshal(event, &e)
			return e.Delta.Text
		},
	},
	"openai": {
		path: "/v1/chat/completions", ends: "[DONE]", fails: `"error":{`,
		body: `{"model":"one","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"` + question + `"}]}`,
		text: func(event []byte) (text string) {
			var e struct {
				Choices []struct{ Delta struct{ Content string } }
			}
			_ = json.Unmarshal(event, &e)
			for _, c := range e.Choices {
				text += c.Delta.Content
			}
			return text
		},
	},
	"openai-responses": {
		path: "/v1/responses", ends: `"response.completed"`, fails: `"error":{`,
		body: `{"model":"one","stream":true,"input":"` + question + `"}`,
		text: func(event []byte) string {
			var e struct{ Type, Delta string }
			if _ = json.Unmarshal(event, &e); e.Type != "response.output_text.delta" {
				return ""
			}
			return e.Delta
		},
	},
	"gemini": {
		path: "/v1beta/models/one:streamGenerateContent?alt=sse", ends: `"finishReason"`, fails: `"error":{`,
		body: `{"contents":[{"role":"user","parts":[{"text":"` + question + `"}]}]}`,
		text: func(event []byte) (text string) {
			var e struct {
				Candidates []struct {
					Content struct{ Parts []struct{ Text string } }
				}
			}
			_ = json.Unmarshal(event, &e)
			for _, c := range e.Candidates {
				for _, p := range c.Content.Parts {
					text += p.Text
				}
			}
			return text
		},
	},
}

// seen is what a caller saw of an answer, and when.
type seen struct {
	status int
	header http.Header
	whole  string
	text   string
	ends   bool // with its wire's proper end
	fails  bool // with an error

	first, took time.Duration // until the first text, and until the end
}

// calls makes one call, and reads the whole response.
func (w *world) calls(s setting) seen {
	w.Helper()
	d := dialects[s.wire]
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+w.host()+d.path, strings.NewReader(d.body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(req)
	if err != nil {
		w.Errorf("the caller gets no answer: %v", err)
		return seen{}
	}
	defer resp.Body.Close()
	got := seen{status: resp.StatusCode, header: resp.Header}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		got.whole += string(line)
		if event, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			text := d.text(event)
			if got.text == "" && text != "" {
				got.first = time.Since(began)
			}
			got.text += text
		}
		if err != nil {
			if err != io.EOF {
				w.Errorf("the answer breaks off for its caller: %v", err)
			}
			break
		}
	}
	got.took = time.Since(began)
	got.ends = strings.Contains(got.whole, d.ends)
	got.fails = strings.Contains(got.whole, d.fails)
	return got
}

// host is the proxy's host name.
func (w *world) host() string {
	if at, ok := w.network.Addr().(*net.TCPAddr); ok {
		return at.String()
	}
	return "localhost"
}

// refused answers a request that this provider does not accept.
func (h *upstream) refused(w http.ResponseWriter, r *http.Request) bool {
	if h.refuses == nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || !h.refuses(body) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","code":"invalid_request_error","status":"INVALID_ARGUMENT","message":"This model does not support assistant message prefill. The conversation must end with a user message."}}`)
	return true
}
