package agui_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway/internal/agui"
	"github.com/mulligan-run/mulligan/gateway/internal/tell"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// FuzzInput: whatever a client sends is a command that is within its bounds, or an error that names the
// field; and what it is told is lines of JSON.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{
		`{"threadId":"t","runId":"x","messages":[{"id":"m","role":"user","content":"hi"}],"state":{"recovery":1}}`,
		`{"threadId":"t","runId":"x","messages":[{"id":"r1-1","role":"assistant","content":"x"}],"state":[1]}`,
		`{"threadId":"t","messages":[],"resume":[{"interruptId":"s","status":"resolved","payload":{"action":"a1"}},{"interruptId":"s","status":"cancelled"}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"forwardedProps":{"recovery":{"mode":"interrupt","action":"a"}}}`,
		`{"messages":[{"role":"user","content":7}],"forwardedProps":"x"}`, `{}`,
	} {
		f.Add([]byte(seed), "text")
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		var in agui.Input
		if json.Unmarshal(data, &in) != nil {
			return
		}
		c, err := in.Command()
		if err != nil {
			if field, ok := errors.AsType[*tell.FieldError](err); !ok || field.Field == "" {
				t.Errorf("an error without a field: %v", err)
			}
			return
		}
		if c.Answer == nil && c.Text != "" && c.CheckMessage("x") != nil || c.Answer != nil && c.Answer.Action == "" {
			t.Errorf("%+v", c)
		}
		v := agui.New(&in, "r1", nil)
		v.Step("1")
		v.Thinking(text)
		v.Text(text)
		v.Withdraw()
		v.Step("2")
		v.Text(text)
		v.Call(llm.ToolCall{ID: text, Name: text, Args: []byte(text)})
		v.Returned(llm.ToolResult{CallID: text, Text: text}, recovery.OutcomeError)
		v.Recovery(tell.Recovery{Run: "r1", Phase: tell.PhaseSuggestion, Text: text})
		v.End(tell.End{Run: "r1", Status: recovery.StatusFailed, Line: text})
		frames, err := v.Take()
		if err != nil {
			t.Fatal(err)
		}
		for frame := range strings.SplitSeq(strings.TrimSuffix(string(frames), "\n\n"), "\n\n") {
			line, ok := strings.CutPrefix(frame, "data: ")
			if !ok || strings.Contains(line, "\n") || !json.Valid([]byte(line)) {
				t.Errorf("%q", frame)
			}
		}
	})
}
