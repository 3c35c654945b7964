package openai

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/internal/golden"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/requests"
)

func TestGolden(t *testing.T) {
	for name, request := range map[string]llm.Request{
		"plain": {Messages: []llm.Message{llm.User("hi")}},
		"full":  requests.Full(requests.Conversation("openai/m-1")),
	} {
		request.Model = "openai/m-1"
		got, _, err := Encode(wire.Target{Model: "m-1", Own: true}, request)
		if err != nil {
			t.Fatal(err)
		}
		golden.JSON(t, filepath.Join("testdata", name+".json"), got)
	}
}

// TestPrefix: an imitator's model that goes on with a last message of its own is told to.
func TestPrefix(t *testing.T) {
	begun := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "It is 14"}}}
	for _, c := range []struct {
		to   wire.Target
		last llm.Message
		want bool
	}{
		{wire.Target{Model: "m", Prefill: true}, begun, true},
		{wire.Target{Model: "m", Prefill: true}, llm.User("hi"), false},
		{wire.Target{Model: "m"}, begun, false},
		{wire.Target{Model: "m", Prefill: true, Own: true}, begun, false},
	} {
		body, _, err := Encode(c.to, llm.Request{Model: "x/m", Messages: []llm.Message{llm.User("hi"), c.last}})
		if err != nil || bytes.Contains(body, []byte(`"prefix":true`)) != c.want {
			t.Errorf("%+v: %s, %v", c.to, body, err)
		}
	}
}
