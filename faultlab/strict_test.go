package faultlab_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

const (
	anthropicUse    = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
	anthropicResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}`
	user            = `{"role":"user","content":"hi"}`
	openaiUse       = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	openaiResult    = `{"role":"tool","tool_call_id":"c1","content":"ok"}`
)

var anthropicCases = []struct{ name, messages, want string }{
	{"plain", user, ""},
	{"a call and its result", user + "," + anthropicUse + "," + anthropicResult, ""},
	{"nothing", ``, "at least one message"},
	{"a call without result", user + "," + anthropicUse + "," + user, "without `tool_result` blocks"},
	{"a call at the end", user + "," + anthropicUse, "without `tool_result` blocks"},
	{"a result without call", anthropicResult, "unexpected `tool_use_id`"},
	{"a result too late", user + "," + anthropicUse + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t1"}]}`, "immediately after"},
	{"a result twice", user + "," + anthropicUse + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"tool_result","tool_use_id":"t1"}]}`, "single result"},
	{"two of one role", user + "," + user, ""},
	{"a call and its result, each in two messages", user + "," + anthropicUse + `,{"role":"assistant","content":"x"},` + anthropicResult + "," + user, ""},
	{"a result after text, in two messages", user + "," + anthropicUse + "," + user + "," + anthropicResult, "immediately after"},
	{"assistant first", `{"role":"assistant","content":"x"}`, "first message"},
	{"system role", `{"role":"system","content":"x"}`, "role: Input should be"},
	{"illegal id", user + "," + strings.ReplaceAll(anthropicUse+","+anthropicResult, "t1", "call|1"), "should match pattern"},
	{"long id", user + "," + strings.ReplaceAll(anthropicUse+","+anthropicResult, "t1", strings.Repeat("x", 65)), "should match pattern"},
	{"empty text", `{"role":"user","content":""}`, "non-empty"},
	{"no content", `{"role":"user","content":[]}`, "non-empty"},
	{"input not an object", user + "," + strings.Replace(anthropicUse, `"input":{}`, `"input":"x"`, 1) + "," + anthropicResult, "valid dictionary"},
}

var openaiCases = []struct{ name, messages, want string }{
	{"plain", user, ""},
	{"two of one role", user + "," + user, ""},
	{"a call and its result", user + "," + openaiUse + "," + openaiResult + "," + user, ""},
	{"nothing", ``, "empty array"},
	{"a call without result", user + "," + openaiUse + "," + user, "did not have response messages: c1"},
	{"a call at the end", user + "," + openaiUse, "did not have response messages: c1"},
	{"a result without call", user + "," + openaiResult, "preceeding message"},
	{"an unknown id", user + "," + openaiUse + "," + strings.Replace(openaiResult, "c1", "c2", 1), "'c2' not found"},
	{"a result twice", user + "," + openaiUse + "," + openaiResult + "," + openaiResult, "duplicate"},
	{"long id", user + "," + strings.ReplaceAll(openaiUse+","+openaiResult, "c1", strings.Repeat("x", 41)), "string too long"},
	{"bad role", `{"role":"robot","content":"x"}`, "Invalid value: 'robot'"},
	{"no content", `{"role":"user"}`, "got null"},
	{"no arguments", user + "," + strings.Replace(openaiUse, `,"arguments":"{}"`, "", 1) + "," + openaiResult, "Missing required"},
}

// accepted checks that a request was taken, or refused with what want says.
func accepted(t *testing.T, h heard, want string) {
	t.Helper()
	refused := h.failure == "invalid_request_error" || h.failure == "INVALID_ARGUMENT"
	message := h.body
	var e envelope
	if json.Unmarshal([]byte(h.body), &e) == nil {
		message = e.Error.Message
	}
	switch {
	case want == "" && h.status != 200:
		t.Errorf("refused: %s", message)
	case want != "" && (h.status != 400 || !refused || !strings.Contains(message, want)):
		t.Errorf("status %d: %s; want %q", h.status, message, want)
	}
}

func TestStrict(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("m", faultlab.Answer("fine"))
	check := func(s side, name, body, want string) {
		t.Run(s.name+"/"+name, func(t *testing.T) {
			accepted(t, s.hear(t.Context(), client, url, body), want)
		})
	}
	for _, c := range anthropicCases {
		check(sides[0], c.name, `{"model":"m","max_tokens":9,"stream":true,"messages":[`+c.messages+`]}`, c.want)
	}
	check(sides[0], "no max_tokens", `{"model":"m","messages":[`+user+`]}`, "max_tokens: Field required")
	check(sides[0], "not JSON", `{`, "not valid JSON")
	for _, c := range openaiCases {
		check(sides[1], c.name, `{"model":"m","stream":true,"messages":[`+c.messages+`]}`, c.want)
	}
	check(sides[1], "stream_options alone", `{"model":"m","stream_options":{},"messages":[`+user+`]}`, "only allowed")
	check(sides[1], "not JSON", `[`, "could not parse")
}

func TestRefusedRequestsUseNoStep(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("m", faultlab.Answer("first"), faultlab.Unavailable())
	for _, s := range sides {
		keyless := s
		keyless.header = map[string]string{"Anthropic-Version": "2023-06-01"}
		if h := keyless.hear(t.Context(), client, url, s.ask); h.status != s.keyless || h.failure == "" {
			t.Errorf("%s without a key: %d %s", s.name, h.status, h.body)
		}
	}
	huge := `{"model":"` + strings.Repeat("x", 9<<20) + `"}`
	if h := sides[0].hear(t.Context(), client, url, huge); h.err == nil && h.status != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d", h.status)
	}
	if h := sides[0].hear(t.Context(), client, url, sides[0].ask); h.text != "first" {
		t.Errorf("heard %+v", h)
	}
	if r := lab.Requests()[0]; r.Step != "rejected" || r.Refused == "" {
		t.Errorf("%+v", r)
	}
}
