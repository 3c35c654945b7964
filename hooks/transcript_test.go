package hooks

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

func TestRecentIsBare(t *testing.T) {
	call := llm.ToolCall{ID: "1", Name: "f", Args: json.RawMessage(`{"a":1}`), Signature: "sig"}
	messages := []llm.Message{llm.User("q"), {Role: llm.RoleAssistant, Model: "a/m", Parts: []llm.Part{
		{Thinking: &llm.Thinking{Text: "hm", Signature: "sig", Redacted: "red"}}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}}, {Call: &call},
	}}}
	got := recent(messages)
	text, err := json.Marshal(got)
	if err != nil || len(got) != 2 || got[1].Model != "a/m" {
		t.Fatal(err, got)
	}
	for _, hidden := range []string{"sig", "red", "cGl4ZWxz"} {
		if strings.Contains(string(text), hidden) {
			t.Errorf("%q is in %s", hidden, text)
		}
	}
	if call.Signature != "sig" || messages[1].Parts[0].Thinking.Signature != "sig" || !strings.Contains(string(text), `{"a":1}`) {
		t.Errorf("changed, or lost: %s", text)
	}
}

func TestRecentIsBounded(t *testing.T) {
	var messages []llm.Message
	for range 300 {
		messages = append(messages, llm.User(strings.Repeat("x", 10_000)))
	}
	messages = append(messages, llm.User("the last"))
	got := recent(messages)
	text, _ := json.Marshal(got)
	if len(text) > maxTranscript || len(text) < maxTranscript*9/10 || got[len(got)-1].Text() != "the last" {
		t.Errorf("%d messages of %d bytes", len(got), len(text))
	}
	if !reflect.DeepEqual(got, messages[len(messages)-len(got):]) {
		t.Error("not the newest")
	}
	if got := recent([]llm.Message{llm.User(strings.Repeat("x", maxTranscript))}); len(got) != 1 || len(got[0].Text()) > maxTranscriptText {
		t.Errorf("%d messages of one that is too long", len(got))
	}
	huge := llm.Message{Role: llm.RoleUser}
	for range 40 {
		huge.Parts = append(huge.Parts, llm.User(strings.Repeat("x", maxTranscriptText)).Parts...)
	}
	if got := recent([]llm.Message{huge}); len(got) != 0 {
		t.Error("a message that is too large was told")
	}
}
