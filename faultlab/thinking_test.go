package faultlab_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// sealFor has the lab think once, as model "m", and returns what it sealed that with.
func sealFor(t *testing.T, lab *faultlab.Lab, client *http.Client, url string, s side) string {
	t.Helper()
	lab.Script("m", faultlab.Thinking("hm", faultlab.Answer("x")))
	h := s.hear(t.Context(), client, url, s.ask)
	if h.seal == "" {
		t.Fatalf("no seal: %+v", h)
	}
	return h.seal
}

func TestThinking(t *testing.T) {
	for _, s := range sides {
		t.Run(s.name, func(t *testing.T) {
			lab, client, url := start(t)
			lab.Script("m",
				faultlab.Thinking("so so", faultlab.ToolCalls("See.", faultlab.Call{Name: "f"})),
				faultlab.Thinking("so so", faultlab.CutAfter("")),
				faultlab.Thinking("so so", faultlab.Unavailable()),
				faultlab.Thinking("so so", faultlab.Answer("x")))
			h := s.hear(t.Context(), client, url, s.ask)
			sealed := s.name != "openai"
			if h.thought != "so so" || h.text != "See." || len(h.tools) != 1 || !h.terminal || sealed != (h.seal != "") {
				t.Errorf("heard %+v", h)
			}
			if h := s.hear(t.Context(), client, url, s.ask); h.thought != "so so" || h.terminal || h.err == nil {
				t.Errorf("cut: heard %+v", h)
			}
			if h := s.hear(t.Context(), client, url, s.ask); h.status != 503 {
				t.Errorf("unavailable: heard %+v", h)
			}
			whole := s.whole()
			want := map[string]string{
				"anthropic": `"type":"thinking"`, "openai": `"reasoning_content":"so so"`,
				"responses": `"encrypted_content"`, "gemini": `"thought":true`,
			}[s.name]
			if h := whole.hear(t.Context(), client, url, whole.ask); !strings.Contains(h.body, want) || !strings.Contains(h.body, "so so") {
				t.Errorf("whole: no %s in %s", want, h.body)
			}
			if got := lab.Requests()[0].Step; got != "tool" {
				t.Errorf("step %q", got)
			}
		})
	}
}

const anthropicThought = `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SEAL"},{"type":"tool_use","id":"t1","name":"f","input":{}}]}`

func TestStrictThinking(t *testing.T) {
	lab, client, url := start(t)
	seal := sealFor(t, lab, client, url, sides[0])
	lab.Script("", faultlab.Answer("fine"))
	const on = `"thinking":{"type":"enabled","budget_tokens":1024},`
	thought := user + "," + anthropicThought + "," + anthropicResult
	spoken := user + `,{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"f","input":{}}]},` + anthropicResult
	for _, c := range []struct{ name, model, members, messages, want string }{
		{"signed", "m", on, thought, ""},
		{"signed, thinking off", "m", "", thought, ""},
		{"unsigned", "m", on, strings.Replace(thought, `,"signature":"SEAL"`, "", 1), "messages.1.content.0.thinking.signature: Field required"},
		{"forged", "m", on, strings.Replace(thought, "SEAL", "Zm9yZ2Vk", 1), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"forged, thinking off", "m", "", strings.Replace(thought, "SEAL", "", 1), "Invalid `signature`"},
		{"another model's", "other", on, thought, "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"redacted", "m", on, strings.Replace(thought, `"thinking","thinking":"hm","signature"`, `"redacted_thinking","data"`, 1), ""},
		{"redacted elsewhere", "other", on, strings.Replace(thought, `"thinking","thinking":"hm","signature"`, `"redacted_thinking","data"`, 1), "Invalid `data` in `redacted_thinking` block"},
		{"a user's thought", "m", on, strings.Replace(anthropicThought, "assistant", "user", 1), "only be in `assistant` messages"},
		{"a call without thought", "m", on, user + "," + anthropicUse + "," + anthropicResult, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"},
		{"text before a call", "m", on, spoken, "but found `text`."},
		{"text before a call, thinking off", "m", "", spoken, ""},
		{"an earlier call without thought", "m", on, spoken + `,{"role":"assistant","content":"so"},` + user, ""},
		{"a small budget", "m", `"thinking":{"type":"enabled","budget_tokens":1023},`, user, "greater than or equal to 1024"},
		{"a large budget", "m", `"thinking":{"type":"enabled","budget_tokens":4096},`, user, "`max_tokens` must be greater than `thinking.budget_tokens`."},
		{"no thinking", "m", `"thinking":{"type":"disabled"},`, user + "," + anthropicUse + "," + anthropicResult, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `{"model":"` + c.model + `","max_tokens":4096,` + c.members + `"messages":[` + strings.ReplaceAll(c.messages, "SEAL", seal) + `]}`
			accepted(t, sides[0].hear(t.Context(), client, url, body), c.want)
		})
	}
	if other, client, url := start(t); sealFor(t, other, client, url, sides[0]) == seal {
		t.Error("two labs with one seal")
	}
}

// A seal is good on its own wire and its own lab only.
func TestSealsStayAtHome(t *testing.T) {
	lab, client, url := start(t)
	foreign := sealFor(t, lab, client, url, responsesSide)
	body := `{"model":"m","max_tokens":9,"messages":[` + strings.ReplaceAll(user+","+anthropicThought+","+anthropicResult, "SEAL", foreign) + `]}`
	accepted(t, sides[0].hear(t.Context(), client, url, body), "Invalid `signature`")
	own := strings.ReplaceAll(body, foreign, sealFor(t, lab, client, url, sides[0]))
	accepted(t, sides[0].hear(t.Context(), client, url, own), "")
	other, client, url := start(t)
	other.Script("", faultlab.Answer("x"))
	accepted(t, sides[0].hear(t.Context(), client, url, own), "Invalid `signature`")
}
