package responses

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/internal/golden"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/requests"
)

func thinking(text, signature string) llm.Part {
	return llm.Part{Thinking: &llm.Thinking{Text: text, Signature: signature}}
}

func call(id, city string) llm.Part {
	return llm.Part{Call: &llm.ToolCall{ID: id, Name: "weather", Args: json.RawMessage(`{"city":"` + city + `"}`)}}
}

func result(id, text string, failed bool) llm.Message {
	r := llm.ToolResult{CallID: id, Name: "weather", Text: text, IsError: failed}
	return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Result: &r}}}
}

func conversation() []llm.Message {
	return []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{{Text: "How warm is <this> place & Köln?"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}}}},
		{Role: llm.RoleAssistant, Model: "openai-responses/m-1", Parts: []llm.Part{
			thinking("another wire's", "c2ln"),
			{Thinking: &llm.Thinking{Redacted: "cmVk"}},
			thinking("two calls", proof{"rs_1", "ZW5j+/=="}.signature()),
			{Text: "Let me see."},
			thinking("", proof{"rs_2", "ZW5j"}.signature()),
			call("call_1", "Köln"), call("call_2", "Bonn"),
		}},
		result("call_1", "14 °C", false),
		result("call_2", "no such place", true),
		{Role: llm.RoleAssistant, Model: "other/m-2", Parts: []llm.Part{
			thinking("foreign", proof{"rs_3", "ZW5j"}.signature()), {Text: "Once more."}, call("call|fc_9", "Bonn"),
		}},
		llm.User("Never mind."),
		{Role: llm.RoleAssistant, Model: "openai-responses/m-1", Parts: []llm.Part{
			{Text: "All right."}, thinking("nothing came of it", proof{"rs_4", "ZW5j"}.signature()),
		}},
		llm.User("Thanks."),
	}
}

func TestGolden(t *testing.T) {
	for name, request := range map[string]llm.Request{
		"plain":    {Messages: []llm.Message{llm.User("hi")}},
		"full":     requests.Full(conversation()),
		"reasoned": {Messages: conversation()[:4], MaxOutputTokens: 1},
	} {
		request.Model = "openai-responses/m-1"
		got, _, err := Encode(wire.Target{Model: "m-1"}, request)
		if err != nil {
			t.Fatal(err)
		}
		golden.JSON(t, filepath.Join("testdata", name+".json"), got)
	}
}

func TestNoImages(t *testing.T) {
	body, repairs, err := Encode(wire.Target{Model: "m", NoImages: true}, llm.Request{Messages: conversation()[:1]})
	if err != nil || strings.Contains(string(body), "input_image") || len(repairs) != 1 || repairs[0].Kind != llm.RepairImage {
		t.Errorf("%v, %+v, %s", err, repairs, body)
	}
}
