package faultlab_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

var responsesSide = side{
	name: "responses", path: "/v1/responses",
	header:  map[string]string{"Authorization": "Bearer secret-key"},
	ask:     `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"hi"}]}`,
	take:    takeResponses,
	keyless: 401,
}

// item is one of an output, in progress or done.
type item struct {
	Type, ID, Status, Name, Arguments, Text string
	CallID                                  string `json:"call_id"`
	Encrypted                               string `json:"encrypted_content"`
	Summary, Content                        []struct{ Type, Text string }
}

type responsesEvent struct {
	Type, Delta, Code, Message string
	Sequence                   int  `json:"sequence_number"`
	Index                      int  `json:"output_index"`
	Item                       item `json:"item"`
	Response                   struct {
		Status string
		Output []item
		Usage  map[string]any
	}
}

func takeResponses(h *heard, data []byte) {
	var e responsesEvent
	if !h.read(data, &e) {
		return
	}
	if e.Sequence != h.events-1 {
		h.bad = true
	}
	switch e.Type {
	case "error":
		h.failure = e.Code
	case "response.output_text.delta":
		h.text += e.Delta
	case "response.reasoning_summary_text.delta":
		h.thought += e.Delta
	case "response.function_call_arguments.delta":
		h.tools[e.Index] += e.Delta
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			h.ids = append(h.ids, e.Item.CallID)
			h.tools[e.Index] = e.Item.Name
		}
	case "response.output_item.done":
		h.seal += e.Item.Encrypted
	case "response.completed":
		h.terminal, h.usage = true, len(e.Response.Usage) > 0
		h.stop = e.Response.Status
	}
}

// The final response holds, item for item, what the events said.
func TestResponsesEvents(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("m", faultlab.Thinking("hm, well", faultlab.ToolCalls("See.", faultlab.Call{Name: "f", Args: `{"a":1}`})))
	s := responsesSide
	var names []string
	var done []item
	s.take = func(_ *heard, data []byte) {
		var e responsesEvent
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(e.Type, "response."))
		if e.Type == "response.output_item.done" {
			done = append(done, e.Item)
		}
		if e.Type == "response.completed" && fmt.Sprint(e.Response.Output) != fmt.Sprint(done) {
			t.Errorf("completed with %+v, want %+v", e.Response.Output, done)
		}
	}
	s.hear(t.Context(), client, url, s.ask)
	want := `created in_progress
output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done
output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done
output_item.added function_call_arguments.delta function_call_arguments.delta function_call_arguments.done output_item.done
completed`
	if got := strings.Join(names, " "); got != strings.ReplaceAll(want, "\n", " ") {
		t.Errorf("events %s", got)
	}
	if len(done) != 3 || done[0].Summary[0].Text != "hm, well" || done[1].Content[0].Text != "See." || done[2].Arguments != `{"a":1}` {
		t.Errorf("items %+v", done)
	}
	bare := strings.Replace(s.ask, `"include":["reasoning.encrypted_content"],`, "", 1)
	if h := responsesSide.hear(t.Context(), client, url, bare); h.thought == "" || h.seal != "" {
		t.Errorf("encrypted content that nobody asked for: %+v", h)
	}
}

const (
	responsesCall   = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	responsesOutput = `{"type":"function_call_output","call_id":"c1","output":"ok"}`
	reasoning       = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"SEAL"}`
	said            = `{"role":"assistant","content":[{"type":"output_text","text":"x"}]}`
)

// SEAL stands for what the lab issued for model "m".
var responsesCases = []struct{ name, input, want string }{
	{"plain", user, ""},
	{"every role and part", `{"type":"message","role":"developer","content":"x"},{"role":"system","content":"x"},{"id":"","role":"user","content":[{"type":"input_text","text":""},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},` + said + "," + user, ""},
	{"a call and its output", user + "," + responsesCall + "," + responsesOutput, ""},
	{"two calls, answered out of order", user + "," + responsesCall + "," + strings.Replace(responsesCall, "c1", "c2", 1) + "," + strings.Replace(responsesOutput, "c1", "c2", 1) + "," + responsesOutput, ""},
	{"reasoning and its call", user + "," + reasoning + "," + responsesCall + "," + responsesOutput, ""},
	{"ids of their kind", user + `,{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"x","annotations":[]}]},` + strings.Replace(responsesCall, "{", `{"id":"fc_1",`, 1) + "," + responsesOutput, ""},
	{"nothing", ``, `must be provided`},
	{"a call without output", user + "," + responsesCall, "No tool output found for function call c1."},
	{"an output without call", user + "," + responsesOutput, "No tool call found for function call output with call_id c1."},
	{"an output before its call", responsesOutput + "," + responsesCall, "No tool call found"},
	{"an output twice", user + "," + responsesCall + "," + responsesOutput + "," + responsesOutput, "No tool call found"},
	{"a call twice", user + "," + responsesCall + "," + responsesCall + "," + responsesOutput, "No tool output found"},
	{"reasoning at the end", user + "," + reasoning, "Item 'rs_1' of type 'reasoning' was provided without its required following item."},
	{"reasoning before a user", user + "," + reasoning + "," + user, "without its required following item."},
	{"foreign reasoning", strings.Replace(user+","+reasoning+","+said, "SEAL", "Zm9yZWlnbg==", 1), "The encrypted content for item rs_1 could not be verified."},
	{"an item twice", user + "," + reasoning + "," + said + "," + reasoning + "," + said, "Duplicate item found with id rs_1."},
	{"long call id", user + "," + strings.ReplaceAll(responsesCall+","+responsesOutput, "c1", strings.Repeat("x", 65)), "Invalid 'input[1].call_id': string too long."},
	{"empty call id", user + "," + strings.ReplaceAll(responsesCall+","+responsesOutput, "c1", ""), "empty string"},
	{"no call id", user + "," + strings.Replace(responsesCall, `"call_id":"c1",`, "", 1), "Missing required parameter: 'input[1].call_id'."},
	{"call with another's id", user + "," + said + "," + strings.Replace(responsesCall, "{", `{"id":"x",`, 1) + "," + responsesOutput, "Invalid 'input[2].id': 'x'. Expected an ID that begins with 'fc'."},
	{"message with another's id", strings.Replace(said, "{", `{"id":"fc_1",`, 1), "Expected an ID that begins with 'msg'."},
	{"reasoning with another's id", strings.Replace(reasoning, "rs_1", "r1", 1) + "," + said, "Expected an ID that begins with 'rs'."},
	{"reasoning without summary", strings.Replace(reasoning, `"summary":[],`, "", 1) + "," + said, "Missing required parameter: 'input[0].summary'."},
	{"arguments that are an object", user + "," + strings.Replace(responsesCall, `"{}"`, `{}`, 1) + "," + responsesOutput, "Invalid type for 'input[1].arguments'"},
	{"illegal name", user + "," + strings.Replace(responsesCall, `"f"`, `"a.b"`, 1) + "," + responsesOutput, "Invalid 'input[1].name'"},
	{"no output", user + "," + responsesCall + `,{"type":"function_call_output","call_id":"c1"}`, "Missing required parameter: 'input[2].output'."},
	{"assistant with input_text", strings.Replace(said, "output_text", "input_text", 1), "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."},
	{"user with text", `{"role":"user","content":[{"type":"text","text":"x"}]}`, "Invalid value: 'text'."},
	{"no picture", `{"role":"user","content":[{"type":"input_image","image_url":"x"}]}`, "Expected a valid URL"},
	{"null content", `{"role":"user","content":null}`, "got null instead"},
	{"no content", `{"role":"user"}`, "Missing required parameter: 'input[0].content'."},
	{"chat's tool role", `{"role":"tool","content":"x"}`, "Invalid value: 'tool'."},
	{"chat's tool calls", openaiUse, "Unknown parameter: 'input[0].tool_calls'."},
	{"another's type", `{"type":"tool_result"}`, "Invalid value: 'tool_result'."},
	{"not an object", `1`, "Invalid type for 'input[0]'"},
}

func TestStrictResponses(t *testing.T) {
	lab, client, url := start(t)
	seal := sealFor(t, lab, client, url, responsesSide)
	lab.Script("", faultlab.Answer("fine"))
	check := func(name, body, want string) {
		t.Run(name, func(t *testing.T) {
			body := strings.ReplaceAll(body, "SEAL", seal)
			h := responsesSide.hear(t.Context(), client, url, body)
			accepted(t, h, want)
		})
	}
	for _, c := range responsesCases {
		check(c.name, `{"model":"m","stream":true,"input":[`+c.input+`]}`, c.want)
	}
	with := func(members string) string { return `{"model":"m",` + members + `,"input":"hi"}` }
	check("text", with(`"stream":true`), "")
	check("tools", with(`"tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"web_search"}],"max_output_tokens":16`), "")
	check("what Codex sends", `{"model":"m","stream":true,"store":false,"instructions":"Be brief.","client_metadata":{"session":"s"},"prompt_cache_key":"k",`+
		`"include":["reasoning.encrypted_content"],"reasoning":null,"tool_choice":"auto","parallel_tool_calls":true,"tools":[{"type":"custom","name":"apply_patch"}],"input":[`+
		`{"type":"message","id":"msg_1","role":"developer","content":[{"type":"input_text","text":"a"}]},{"type":"message","id":"msg_2","role":"user","content":[{"type":"input_text","text":"b"}]},`+
		`{"type":"function_call","id":"fc_1","call_id":"c1","name":"shell","namespace":"agents","arguments":"{}"},{"type":"function_call_output","id":"fco_01a2041c-48ed-7b70","call_id":"c1","output":"ok"}]}`, "")
	check("other calls that Codex makes", `{"model":"m","input":[{"role":"user","content":"b"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"SEAL"},`+
		`{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"apply_patch","input":"- a","status":"completed"},{"type":"custom_tool_call_output","call_id":"c1","output":"ok"},`+
		`{"type":"local_shell_call","id":"lsh_1","call_id":"c2","action":{"type":"exec"},"status":"completed"},{"type":"local_shell_call_output","call_id":"c2","output":"ok"},`+
		`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}]}`, "")
	check("a custom call without output", `{"model":"m","input":[{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":""}]}`, "No tool output found")
	check("a custom call without input", `{"model":"m","input":[{"type":"custom_tool_call","call_id":"c1","name":"apply_patch"}]}`, "Missing required parameter: 'input[0].input'.")
	check("an output's id of another kind", `{"model":"m","input":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","id":"msg_1","call_id":"c1","output":"ok"}]}`, "Expected an ID that begins with 'fc'.")
	check("empty text", `{"model":"m","input":""}`, "must be provided")
	check("no input", `{"model":"m"}`, "must be provided")
	check("input of another type", `{"model":"m","input":1}`, "Invalid type for 'input'")
	check("no model", `{"input":"hi"}`, "Missing required parameter: 'model'.")
	check("too few tokens", with(`"max_output_tokens":15`), "Expected a value >= 16, but got 15 instead.")
	check("nested tool", with(`"tools":[{"type":"function","function":{"name":"f"}}]`), "Missing required parameter: 'tools[0].name'.")
	check("illegal tool", with(`"tools":[{"type":"function","name":"a b"}]`), "Invalid 'tools[0].name'")
	check("chat's messages", with(`"messages":[]`), "has moved to 'input'")
	check("chat's max_tokens", with(`"max_tokens":5`), "has moved to 'max_output_tokens'")
	check("unknown parameter", with(`"colour":1`), "Unknown parameter: 'colour'.")
	check("previous response", with(`"previous_response_id":"resp_1"`), "Previous response with id 'resp_1' not found.")
	check("not JSON", `{`, "could not parse")
	check("not an object", `[]`, "could not parse")
	check("another model's reasoning", `{"model":"other","input":[`+reasoning+`,`+said+`]}`, "could not be verified")
	bare := strings.Replace(reasoning, `,"encrypted_content":"SEAL"`, "", 1)
	h := responsesSide.hear(t.Context(), client, url, `{"model":"m","store":false,"input":[`+bare+`,`+said+`]}`)
	if h.status != 404 || !strings.Contains(h.body, "Items are not persisted when `store` is set to false.") {
		t.Errorf("reasoning that is not kept: %d %s", h.status, h.body)
	}
}
