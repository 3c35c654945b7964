package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLacks(t *testing.T) {
	picture := Request{Messages: []Message{User("look"), {Role: RoleUser, Parts: []Part{{Image: &Image{MediaType: "image/png", Data: make([]byte, 1<<20)}}}}}}
	tools := Request{Messages: []Message{User("hi")}, Tools: []Tool{{Name: "f"}}}
	called := Request{Messages: []Message{{Role: RoleAssistant, Parts: []Part{{Call: &ToolCall{ID: "1", Name: "f", Args: json.RawMessage("{}")}}}}}}
	long := Request{System: strings.Repeat("x", 4000)}
	schema := Request{Format: &Format{Schema: json.RawMessage("{}")}}.Needs()
	for _, c := range []struct {
		able Capabilities
		of   Needs
		want string
	}{
		{Capabilities{}, picture.Needs(), ""},
		{Capabilities{NoImages: true}, picture.Needs(), "takes no images"},
		{Capabilities{NoImages: true}, tools.Needs(), ""},
		{Capabilities{ContextTokens: 8192}, picture.Needs(), ""},
		{Capabilities{NoTools: true}, tools.Needs(), "calls no tools"},
		{Capabilities{NoTools: true}, called.Needs(), "calls no tools"},
		{Capabilities{NoTools: true, NoSchema: true}, long.Needs(), ""},
		{Capabilities{NoSchema: true}, schema, "does not keep to a JSON schema"},
		{Capabilities{ContextTokens: 1000}, long.Needs(), ""},
		{Capabilities{ContextTokens: 999}, long.Needs(), "has room for 999 tokens, and the conversation has about 1,000"},
	} {
		if got := c.able.Lacks(c.of); got != c.want {
			t.Errorf("%+v of %+v: %q, not %q", c.able, c.of, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 128_000: "128,000", 1_048_576: "1,048,576"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
