package aisdk_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway/internal/aisdk"
	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// FuzzCommand: whatever a client sends is a command that is within its bounds, or an error that names
// the field.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		`{"id":"c","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"hi"}]}]}`,
		`{"id":"c","trigger":"regenerate-message","messages":[{"role":"user","parts":[{"type":"text","text":"hi"}]},{"role":"assistant","parts":[{"type":"text","text":"x"}]}]}`,
		`{"id":"c","messages":[],"recovery":{"suggestionId":"s","action":"a1","model":"x/y"}}`,
		`{"id":"c","messages":[{"role":"user","parts":[{"type":"file"}]}]}`, `{"messages":[{"role":"tool"}]}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r aisdk.Request
		if json.Unmarshal(data, &r) != nil {
			return
		}
		c, err := r.Command()
		if err != nil {
			if field, ok := errors.AsType[*tell.FieldError](err); !ok || field.Field == "" {
				t.Errorf("an error without a field: %v", err)
			}
			return
		}
		if c.Answer == nil && c.CheckMessage("x") != nil {
			t.Errorf("%+v", c)
		}
		for _, m := range c.History {
			if m.Text() == "" || m.Role != llm.RoleUser && m.Role != llm.RoleAssistant {
				t.Errorf("%+v", m)
			}
		}
	})
}

// FuzzVoice: whatever a run says, every frame is one line of JSON.
func FuzzVoice(f *testing.F) {
	f.Add("text", "thinking", "call", []byte(`{"a":1}`), "ok")
	f.Add("\n\ndata: x", "\x00\xff", "", []byte(`{`), "")
	f.Fuzz(func(t *testing.T, text, thinking, call string, args []byte, result string) {
		v := aisdk.New("r1")
		v.Step("1")
		v.Thinking(thinking)
		v.Text(text)
		v.Recovery(tell.Recovery{Run: "r1", Phase: tell.PhaseRetrying, Text: text, RetryAt: time.Unix(0, 0)})
		v.Withdraw()
		v.Step("2")
		v.Call(llm.ToolCall{ID: call, Name: text, Args: args})
		v.Returned(llm.ToolResult{CallID: call, Text: result}, recovery.OutcomeOK)
		v.End(tell.End{Run: "r1", Status: recovery.StatusFailed, Line: text})
		frames, err := v.Take()
		if err != nil {
			t.Fatal(err)
		}
		checkFrames(t, frames)
	})
}
