package faultlab_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
)

var geminiSide = side{
	name: "gemini", path: "/v1beta/models/m:streamGenerateContent?alt=sse",
	header:  map[string]string{"X-Goog-Api-Key": "secret-key"},
	ask:     `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
	take:    takeGemini,
	keyless: 403,
}

type geminiFrame struct {
	Candidates []struct {
		FinishReason string
		Content      struct {
			Role  string
			Parts []struct {
				Text             string
				Thought          bool
				ThoughtSignature string
				FunctionCall     *struct {
					ID, Name string
					Args     json.RawMessage
				}
			}
		}
	}
	UsageMetadata struct{ PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount, TotalTokenCount int }
	ResponseID    string
	Error         *struct{ Code int }
}

func takeGemini(h *heard, data []byte) {
	var e geminiFrame
	if !h.read(data, &e) || e.Error != nil {
		return
	}
	u := e.UsageMetadata
	h.usage = u.TotalTokenCount == u.PromptTokenCount+u.CandidatesTokenCount+u.ThoughtsTokenCount && u.TotalTokenCount > 0
	for _, c := range e.Candidates {
		for _, p := range c.Content.Parts {
			h.seal += p.ThoughtSignature
			switch {
			case p.FunctionCall != nil:
				h.tools[len(h.tools)] = p.FunctionCall.Name + string(p.FunctionCall.Args)
				if p.FunctionCall.ID != "" {
					h.ids = append(h.ids, p.FunctionCall.ID)
				}
			case p.Thought:
				h.thought += p.Text
			default:
				h.text += p.Text
			}
		}
		h.stop, h.terminal = c.FinishReason, c.FinishReason != ""
	}
}

// model is the side asking another model.
func (s side) model(name string) side {
	s.path = strings.Replace(s.path, "/m:", "/"+name+":", 1)
	return s
}

// Without alt=sse a stream is one JSON array, and so is the body of an error.
func TestGeminiArray(t *testing.T) {
	lab, client, url := start(t)
	array := geminiSide
	array.path = strings.TrimSuffix(array.path, "?alt=sse")
	hear := func() (h heard, frames []geminiFrame) {
		h = array.hear(t.Context(), client, url, array.ask)
		if err := json.Unmarshal([]byte(h.body), &frames); err != nil {
			frames = nil
		}
		return h, frames
	}
	lab.Script("m", faultlab.Answer("All is good."), faultlab.ErrorEventAfter("All is"), faultlab.EndAfter("All is"), faultlab.Malformed("All is"), faultlab.Overloaded())
	if h, frames := hear(); len(frames) != 4 || frames[3].Candidates[0].FinishReason != "STOP" || frames[0].ResponseID == "" {
		t.Errorf("answer: %s", h.body)
	}
	if h, frames := hear(); len(frames) != 3 || frames[2].Error == nil || frames[2].Error.Code != 503 {
		t.Errorf("error event: %s", h.body)
	}
	for range 2 {
		if h, _ := hear(); json.Valid([]byte(h.body)) || !strings.HasPrefix(h.body, "[{") {
			t.Errorf("complete: %s", h.body)
		}
	}
	if h, frames := hear(); h.status != 503 || len(frames) != 1 || frames[0].Error.Code != 503 {
		t.Errorf("overloaded: %d %s", h.status, h.body)
	}
}

func TestGeminiKeyInTheQuery(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("", faultlab.ToolCalls("", faultlab.Call{Name: "a"}, faultlab.Call{Name: "b"}))
	s := geminiSide.model("gemini-3-pro")
	s.header = nil
	s.path += "&key=secret-key"
	h := s.hear(t.Context(), client, url, s.ask)
	if !h.terminal || len(h.ids) != 2 || h.ids[0] == h.ids[1] || h.seal == "" {
		t.Errorf("heard %+v", h)
	}
	if r := lab.Requests()[0]; strings.Contains(r.Path, "secret") || r.Model != "gemini-3-pro" {
		t.Errorf("recorded %+v", r)
	}
}

func TestGeminiRoutes(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("", faultlab.Answer("x"))
	for _, path := range []string{"/v1beta/models/m", "/v1beta/models/:generateContent", "/v1beta/models/m:countTokens", "/v1/models/m:generateContent"} {
		s := geminiSide
		s.path = path
		if h := s.hear(t.Context(), client, url, s.ask); h.status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, h.status)
		}
	}
}

const (
	gUser     = `{"role":"user","parts":[{"text":"hi"}]}`
	gModel    = `{"role":"model","parts":[{"text":"x"}]}`
	gCall     = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"SEAL"}]}`
	gUnsigned = `{"role":"model","parts":[{"functionCall":{"name":"f"}}]}`
	gResponse = `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"ok"}}}]}`
	gTwoCalls = `{"role":"model","parts":[{"text":"x"},{"functionCall":{"name":"f"},"thoughtSignature":"SEAL"},{"functionCall":{"name":"g"}}]}`
	gTwoBack  = `{"role":"user","parts":[{"functionResponse":{"name":"g","response":{}}},{"functionResponse":{"name":"f","response":{}}}]}`
	gNotEmpty = "required oneof field 'data' must have one initialized field"
	gCount    = "Please ensure that the number of function response parts is equal"
	gTurn     = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)

func gPart(part string) string { return `{"role":"user","parts":[` + part + `]}` }

// SEAL stands for what the lab issued for model "gemini-3-m".
var geminiCases = []struct{ name, contents, want string }{
	{"plain", gUser, ""},
	{"no role", `{"parts":[{"text":"hi"}]}`, ""},
	{"a call and its response", gUser + "," + gCall + "," + gResponse, ""},
	{"two calls, answered out of order", gUser + "," + gTwoCalls + "," + gTwoBack, ""},
	{"a call after a response", gUser + "," + gCall + "," + gResponse + "," + gCall + "," + gResponse, ""},
	{"the sentinel", gUser + "," + strings.Replace(gCall, "SEAL", "skip_thought_signature_validator", 1) + "," + gResponse, ""},
	{"in snake case", gUser + `,{"role":"model","parts":[{"function_call":{"name":"f"},"thought_signature":"SEAL"}]},{"role":"user","parts":[{"function_response":{"name":"f","response":{}}}]}`, ""},
	{"empty text beside a signature", gUser + `,{"role":"model","parts":[{"text":"","thoughtSignature":"SEAL"}]},` + gUser, ""},
	{"two of one role", gUser + "," + gUser + "," + gModel + "," + gModel, ""},
	{"a picture", gPart(`{"inlineData":{"mimeType":"image/png","data":"AA=="}}`), ""},
	{"nothing", ``, "contents is not specified"},
	{"no parts", `{"role":"user","parts":[]}`, "contents.parts must not be empty"},
	{"an empty part", gPart(`{}`), "contents[0].parts[0].data: " + gNotEmpty},
	{"null text", gPart(`{"text":null}`), gNotEmpty},
	{"empty text", gPart(`{"text":""}`), gNotEmpty},
	{"two kinds", gPart(`{"text":"x","functionCall":{"name":"f"}}`), "oneof field 'data' is already set"},
	{"text of another type", gPart(`{"text":5}`), "Invalid value at 'contents[0].parts[0].text'"},
	{"unknown kind", gPart(`{"type":"text","text":"x"}`), `Invalid JSON payload received. Unknown name "type" at 'contents[0].parts[0]': Cannot find field.`},
	{"a broken picture", gPart(`{"inlineData":{"mimeType":"image/png","data":"?"}}`), "Base64 decoding failed"},
	{"assistant role", `{"role":"assistant","parts":[{"text":"x"}]}`, "Please use a valid role: user, model."},
	{"function role", gUser + "," + gCall + "," + strings.Replace(gResponse, `"user"`, `"function"`, 1), "Please use a valid role: user, model."},
	{"no role among many", `{"parts":[{"text":"hi"}]},` + gModel, "Please use a valid role"},
	{"model first", gModel + "," + gUser, "start with a user role"},
	{"a call after the model", gUser + "," + gModel + "," + gCall + "," + gResponse, gTurn},
	{"a user's call", gPart(`{"functionCall":{"name":"f"}}`), gTurn},
	{"a call without response", gUser + "," + gCall + "," + gUser, gCount},
	{"a call at the end", gUser + "," + gCall, "end with a user role or a function response"},
	{"too few responses", gUser + "," + gTwoCalls + "," + gResponse, gCount},
	{"too many responses", gUser + "," + gCall + "," + gTwoBack, gCount},
	{"another's response", gUser + "," + gCall + "," + strings.Replace(gResponse, `"f"`, `"g"`, 1), "names of function response parts"},
	{"a response without call", gUser + "," + gResponse, "function response turn comes immediately after a function call turn"},
	{"a response in bits", gUser + "," + gCall + "," + strings.Replace(gResponse, `{"output":"ok"}`, `"ok"`, 1), "function_response.response' (type.googleapis.com/google.protobuf.Struct)"},
	{"no response in it", gUser + "," + gCall + "," + strings.Replace(gResponse, `,"response":{"output":"ok"}`, ``, 1), "google.protobuf.Struct"},
	{"arguments as text", gUser + "," + strings.Replace(gCall, `"args":{}`, `"args":"{}"`, 1) + "," + gResponse, "function_call.args'"},
	{"illegal name", gUser + "," + strings.ReplaceAll(gCall+","+gResponse, `"f"`, `"1f"`), "Invalid function name"},
	{"long name", gUser + "," + strings.ReplaceAll(gCall+","+gResponse, `"f"`, `"`+strings.Repeat("f", 65)+`"`), "Invalid function name"},
	{"an unsigned call", gUser + "," + gUnsigned + "," + gResponse, "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:f` , position 2."},
	{"signed on the second call", gUser + "," + strings.Replace(strings.Replace(gTwoCalls, `,"thoughtSignature":"SEAL"`, "", 1), `{"name":"g"}`, `{"name":"g"},"thoughtSignature":"SEAL"`, 1) + "," + gTwoBack, "missing a thought_signature"},
	{"a forged signature", gUser + "," + strings.Replace(gCall, "SEAL", "Zm9yZ2Vk", 1) + "," + gResponse, "Thought signature is not valid."},
}

func TestStrictGemini(t *testing.T) {
	lab, client, url := start(t)
	s := geminiSide.model("gemini-3-m")
	lab.Script("", faultlab.Thinking("hm", faultlab.Answer("fine")))
	seal := s.hear(t.Context(), client, url, s.ask).seal
	check := func(s side, name, body, want string) {
		t.Run(name, func(t *testing.T) {
			accepted(t, s.hear(t.Context(), client, url, strings.ReplaceAll(body, "SEAL", seal)), want)
		})
	}
	for _, c := range geminiCases {
		check(s, c.name, `{"contents":[`+c.contents+`]}`, c.want)
	}
	with := func(members string) string { return `{"contents":[` + gUser + `],` + members + `}` }
	declare := func(rest string) string {
		return with(`"tools":[{"functionDeclarations":[{"name":"f",` + rest + `}]}]`)
	}
	older := geminiSide.model("gemini-2.5-m")
	check(older, "an older model's unsigned call", `{"contents":[`+gUser+","+gUnsigned+","+gResponse+`]}`, "")
	check(older, "another model's signature", `{"contents":[`+gUser+","+gCall+","+gResponse+`]}`, "Thought signature is not valid.")
	check(s, "every member", with(`"system_instruction":{"parts":[{"text":"x"}]},"generationConfig":{},"toolConfig":{},"safetySettings":[],"cachedContent":"x"`), "")
	check(s, "unknown member", with(`"stream":true`), `Invalid JSON payload received. Unknown name "stream": Cannot find field.`)
	check(s, "empty system instruction", with(`"systemInstruction":{"parts":[{"text":""}]}`), "system_instruction.parts[0].data: "+gNotEmpty)
	check(s, "contents of another type", `{"contents":"hi"}`, "Invalid value at 'contents'")
	check(s, "not JSON", `{`, "Invalid JSON payload received.")
	check(s, "not an object", `[]`, "Invalid value")
	check(s, "JSON Schema in its place", declare(`"parametersJsonSchema":{"type":"object","additionalProperties":false}`), "")
	check(s, "OpenAPI schema", declare(`"parameters":{"type":"OBJECT","properties":{"format":{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"}]}}},"required":["format"]}`), "")
	check(s, "JSON Schema as parameters", declare(`"parameters":{"type":"object","properties":{"a":{"type":"object","additionalProperties":false}}}`), `Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters`)
	check(s, "a deep schema", declare(`"parameters":`+strings.Repeat(`{"items":`, 99)+`{}`+strings.Repeat(`}`, 99)), "too deep")
	check(s, "both schemas", declare(`"parameters":{},"parametersJsonSchema":{}`), "only one of")
	check(s, "OpenAI's tools", with(`"tools":[{"type":"function","name":"f"}]`), `Unknown name "name" at 'tools[0]'`)
	check(s, "illegal declaration", with(`"tools":[{"functionDeclarations":[{"name":"a b"}]}]`), "Invalid function name")
	check(s, "a function twice", with(`"tools":[{"functionDeclarations":[{"name":"f"}]},{"functionDeclarations":[{"name":"f"}]}]`), "Duplicate function declaration found: f")
}
