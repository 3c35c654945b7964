package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

// agent is a caller that carries out tools: it says back what it was told, as it was told.
type agent struct {
	path    string
	request map[string]any
	turns   string // the member of request that holds the conversation
	// next takes an answer, and gives what the conversation goes on with: what was said, and the
	// results of its calls, whose ids it gives as well.
	next func(t *testing.T, answer []byte) (turns []any, ids []string)
}

type object = map[string]any

// into reads an answer.
func into[T any](t *testing.T, answer []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return v
}

var weather = object{"type": "object", "properties": object{"city": object{"type": "string"}}}

// agents are one of each wire, which all want to see the model's reasoning.
func agents() map[string]agent {
	function := object{"name": "weather", "description": "The weather", "parameters": weather}
	return map[string]agent{
		"anthropic": {"/v1/messages", object{
			"model": "one", "max_tokens": 4000, "thinking": object{"type": "enabled", "budget_tokens": 1024},
			"tools":    []any{object{"name": "weather", "description": "The weather", "input_schema": weather}},
			"messages": []any{object{"role": "user", "content": "How warm is it?"}},
		}, "messages", nextOfMessages},
		"openai": {"/v1/chat/completions", object{
			"model": "one", "tools": []any{object{"type": "function", "function": function}},
			"messages": []any{object{"role": "user", "content": "How warm is it?"}},
		}, "messages", nextOfChat},
		"openai-responses": {"/v1/responses", object{
			"model": "one", "store": false, "include": []any{"reasoning.encrypted_content"}, "reasoning": object{"effort": "low"},
			"tools": []any{object{"type": "function", "name": "weather", "description": "The weather", "parameters": weather, "strict": false}},
			"input": []any{object{"role": "user", "content": "How warm is it?"}},
		}, "input", nextOfResponses},
		"gemini": {"/v1beta/models/one:generateContent", object{
			"tools":    []any{object{"functionDeclarations": []any{function}}},
			"contents": []any{object{"role": "user", "parts": []any{object{"text": "How warm is it?"}}}},
		}, "contents", nextOfGemini},
	}
}

func nextOfMessages(t *testing.T, answer []byte) (turns []any, ids []string) {
	said := into[struct{ Content []object }](t, answer).Content
	var results []any
	for _, block := range said {
		if block["type"] == "tool_use" {
			ids = append(ids, block["id"].(string))
			results = append(results, object{"type": "tool_result", "tool_use_id": block["id"], "content": "14 °C"})
		}
	}
	return []any{object{"role": "assistant", "content": said}, object{"role": "user", "content": results}}, ids
}

func nextOfChat(t *testing.T, answer []byte) (turns []any, ids []string) {
	said := into[struct{ Choices []struct{ Message object } }](t, answer).Choices[0].Message
	turns = []any{said}
	calls, _ := said["tool_calls"].([]any)
	for _, call := range calls {
		id := call.(object)["id"].(string)
		ids = append(ids, id)
		turns = append(turns, object{"role": "tool", "tool_call_id": id, "content": "14 °C"})
	}
	return turns, ids
}

func nextOfResponses(t *testing.T, answer []byte) (turns []any, ids []string) {
	for _, item := range into[struct{ Output []object }](t, answer).Output {
		turns = append(turns, item)
		if item["type"] == "function_call" {
			id := item["call_id"].(string)
			ids = append(ids, id)
			turns = append(turns, object{"type": "function_call_output", "call_id": id, "output": "14 °C"})
		}
	}
	return turns, ids
}

func nextOfGemini(t *testing.T, answer []byte) (turns []any, ids []string) {
	said := into[struct{ Candidates []struct{ Content object } }](t, answer).Candidates[0].Content
	var results []any
	for _, part := range said["parts"].([]any) {
		call, ok := part.(object)["functionCall"].(object)
		if !ok {
			continue
		}
		id, _ := call["id"].(string)
		ids = append(ids, id)
		results = append(results, object{"functionResponse": object{"id": id, "name": call["name"], "response": object{"output": "14 °C"}}})
	}
	return []any{said, object{"role": "user", "parts": results}}, ids
}

// says makes the agent's next call; result is the answer.
func (w *world) says(a agent) (result string) {
	w.Helper()
	body, err := json.Marshal(a.request)
	if err != nil {
		w.Fatal(err)
	}
	resp, text := w.post(a.path, string(body), "X-Mulligan-Session", "oslo")
	if resp.StatusCode != http.StatusOK {
		w.Fatalf("%d %s", resp.StatusCode, text)
	}
	return text
}

// TestToolLoopThereAndBack: a conversation begins on its own wire, goes to a model of any other in
// the middle of a tool loop, and comes back: each tool runs once, its result is told under the id
// that its call had, and nobody is told reasoning again that is not its own.
func TestToolLoopThereAndBack(t *testing.T) {
	for name := range agents() {
		for _, other := range []string{"anthropic", "openai", "openai-responses", "gemini"} {
			t.Run(name+" to "+other, func(t *testing.T) {
				t.Parallel()
				a := agents()[name]
				route := fallback
				route.Models = []string{"$provider/$model", other + "/two"}
				w := newWorld(t, route)
				broken := faultlab.Status(http.StatusInternalServerError, nil, "") // which cools nothing
				calls := func(thought, city string) faultlab.Step {
					return faultlab.Thinking(thought, faultlab.ToolCall("weather", fmt.Sprintf(`{"city":%q}`, city)))
				}
				w.lab.Script("one", calls("first", "Oslo"), broken, broken, faultlab.Answer("All is well."))
				w.lab.Script("two", calls("second", "Bergen"), broken)
				var ids []string
				for i, city := range []string{"Oslo", "Bergen"} {
					text := w.says(a)
					turns, more := a.next(t, []byte(text))
					if len(more) != 1 || !strings.Contains(text, city) {
						t.Fatalf("call %d: %s", i+1, text)
					}
					ids = append(ids, more...)
					a.request[a.turns] = append(a.request[a.turns].([]any), turns...)
				}
				if text := w.says(a); !strings.Contains(text, "All is well.") {
					t.Fatal(text)
				}
				most := 1 // refusals of reasoning that is not the model's own
				if name == other {
					most = 2
				}
				w.asTold(ids, most)
			})
		}
	}
}

// asTold checks what the providers were told of the calls with these ids.
func (w *world) asTold(ids []string, most int) {
	w.Helper()
	asked := w.requests()
	refused := slices.DeleteFunc(slices.Clone(asked), func(r faultlab.Request) bool { return r.Refused == "" })
	if len(refused) > most {
		w.Errorf("%d requests were refused: %s", len(refused), refused[0].Refused)
	}
	for _, r := range refused { // the own words of a caller whose model it was not
		if !strings.Contains(r.Refused, "hinking") && !strings.Contains(r.Refused, "encrypted") && !strings.Contains(r.Refused, "ignature") && !strings.Contains(r.Refused, "'rs_") {
			w.Error(r.Refused)
		}
	}
	if ids[0] == ids[1] {
		w.Errorf("two calls have the id %q", ids[0])
	}
	last := asked[len(asked)-1]
	for _, id := range ids {
		if last.Wire != "gemini" && bytes.Count(last.Body, fmt.Appendf(nil, "%q", id)) != 2 {
			w.Errorf("%s is not told of call %s and its result: %s", last.Model, id, last.Body)
		}
	}
	if answers := bytes.Count(last.Body, []byte("14 °C")); last.Model != "one" || answers != 2 {
		w.Errorf("%s was told %d results: %s", last.Model, answers, last.Body)
	}
}
