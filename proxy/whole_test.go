package proxy_test

import (
	"cmp"
	"encoding/json"
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

// TestGoesOnAfterAPart: where the part that was said had ended, the rest is a part of its own, and
// nothing is said of a part after its end, nor of one in another's place.
func TestGoesOnAfterAPart(t *testing.T) {
	for name, c := range map[string]struct{ path, body, answer, ends, end string }{
		"messages": {
			"/v1/messages", question, `{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It begins."}}
{"type":"content_block_stop","index":0}
{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`,
			"content_block_stop", "message_stop",
		},
		"messages, after the provider's tool": {
			"/v1/messages", question, `{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"It begins."}}`,
			"content_block_stop", "message_stop",
		},
		"responses": {
			"/v1/responses", `{"model":"one","stream":true,"input":"hello"}`, `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}
{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
{"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"It begins."}
{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"It begins."}]}}
{"type":"response.of_tomorrow","sequence_number":4}`,
			"response.output_item.done", "response.completed",
		},
		"responses, after the provider's tool": {
			"/v1/responses", `{"model":"one","stream":true,"input":"hello"}`, `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}
{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"}}
{"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{"id":"ws_1","type":"web_search_call","status":"completed"}}
{"type":"response.output_item.added","sequence_number":3,"output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}
{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"It begins."}`,
			"response.output_item.done", "response.completed",
		},
	} {
		w := newWorld(t, fallback)
		stream := "data: " + strings.ReplaceAll(c.answer, "\n", "\n\ndata: ") + "\n\n"
		w.lab.Script("one", faultlab.Status(http.StatusOK, map[string]string{"Content-Type": "text/event-stream"}, stream))
		w.lab.Script("two", faultlab.Answer("and ends like this."))
		_, text := w.post(c.path, c.body)
		over, last := map[int]bool{}, ""
		for line := range strings.Lines(text) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			var e struct {
				Type   string `json:"type"`
				Index  *int   `json:"index"`
				Output *int   `json:"output_index"`
			}
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			last = e.Type
			if at := cmp.Or(e.Index, e.Output); at != nil {
				if over[*at] {
					t.Errorf("%s: after the end of part %d comes %s", name, *at, line)
				}
				over[*at] = e.Type == c.ends
			}
		}
		if last != c.end || len(over) != 2 || !strings.Contains(text, "this.") {
			t.Errorf("%s: %d parts, and the end is %s", name, len(over), last)
		}
	}
}
