package compat

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// heard is the content of an answer.
type heard struct {
	Thought string
	Text    string
	Calls   []called
	In, Out int64 // tokens
}

type called struct{ ID, Name, Args string }

// recorder is a lab's handler that keeps the last request and answer.
type recorder struct {
	lab     http.Handler
	request []byte
	answer  []byte
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.request, _ = io.ReadAll(q.Body)
	q.Body = io.NopCloser(strings.NewReader(string(r.request)))
	kept := httptest.NewRecorder()
	r.lab.ServeHTTP(kept, q)
	r.answer = kept.Body.Bytes()
	for name := range kept.Header() {
		w.Header().Set(name, kept.Header().Get(name))
	}
	w.WriteHeader(kept.Code)
	_, _ = w.Write(r.answer)
}

// requests are made to a model; seal is its signature of reasoning, if it has one.
func requests(model, seal string) map[string]llm.Request {
	call := func(id string) llm.Part {
		return llm.Part{Call: &llm.ToolCall{ID: id, Name: "weather", Args: json.RawMessage(`{"city":"Köln","days":3}`)}}
	}
	result := llm.Part{Result: &llm.ToolResult{CallID: "toolu_1", Name: "weather", Text: "14 °C", IsError: true}}
	return map[string]llm.Request{
		"plain": {Model: model, Messages: []llm.Message{llm.User("hi")}},
		"full": {
			Model: model, System: "Be brief.", MaxOutputTokens: 1000,
			Tools: []llm.Tool{{Name: "weather", Description: "How warm", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`)}},
			Messages: []llm.Message{
				{Role: llm.RoleUser, Parts: []llm.Part{{Text: "<q> & more"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}}}},
				{Role: llm.RoleAssistant, Model: model, Parts: []llm.Part{{Thinking: &llm.Thinking{Text: "hm", Signature: seal}}, {Thinking: &llm.Thinking{Redacted: seal}}, {Text: "See."}, call("toolu_1")}},
				{Role: llm.RoleTool, Parts: []llm.Part{result}},
				{Role: llm.RoleAssistant, Model: "other/m", Parts: []llm.Part{call("call|2")}},
				llm.User("and?"),
			},
		},
		"shaped": {
			Model: model, Temperature: new(0.25), TopP: new(0.5), ToolChoice: llm.ToolChoice{Mode: llm.ToolRequired}, // a call by name is written by the SDKs, but not read
			Format:   &llm.Format{Name: "report", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`), Strict: true},
			Tools:    []llm.Tool{{Name: "weather", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
			Messages: []llm.Message{llm.User("hi")},
		},
		"toolless": {
			Model: model, TopP: new(0.5), ToolChoice: llm.ToolChoice{Mode: llm.ToolNone},
			Tools: []llm.Tool{{Name: "weather", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}, Messages: []llm.Message{llm.User("hi")},
		},
		"thinking": {Model: model, ReasoningEffort: "high", Messages: []llm.Message{llm.User("hi")}},
	}
}

var answers = map[string]faultlab.Step{
	"text":    faultlab.Answer("It is 14 °C and clear."),
	"thought": faultlab.Thinking("Let me think.", faultlab.Answer("It is 14 °C.")),
	"calls":   faultlab.ToolCalls("Let me see.", faultlab.Call{Name: "weather", Args: `{"city":"Köln"}`}, faultlab.Call{Name: "time"}),
}

func TestAnthropic(t *testing.T) {
	judge(t, provider.TypeAnthropic, &anthropicsdk.MessageNewParams{}, hearAnthropic)
}

func TestOpenAI(t *testing.T) {
	judge(t, provider.TypeOpenAI, &openaisdk.ChatCompletionNewParams{}, hearOpenAI)
}

func TestResponses(t *testing.T) {
	judge(t, provider.TypeResponses, &responses.ResponseNewParams{}, hearResponses)
}

func TestGemini(t *testing.T) {
	judge(t, provider.TypeGemini, &genaiRequest{}, hearGenai)
}

// genaiRequest is a request made of genai's own types, which has no type for the whole.
type genaiRequest struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

func judge(t *testing.T, wire string, params any, hear func(*testing.T, string) heard) {
	lab := faultlab.New()
	for asked, request := range requests(wire+"/m", sealed(t, wire, lab)) {
		for answered, step := range answers {
			t.Run(asked+"/"+answered, func(t *testing.T) {
				lab.Script("m", step)
				kept := &recorder{lab: lab}
				ours := listen(t, wire, kept, request)
				fresh := reflect.New(reflect.TypeOf(params).Elem()).Interface()
				sameJSON(t, kept.request, fresh)
				replay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = w.Write(kept.answer)
				}))
				defer replay.Close()
				theirs := hear(t, replay.URL)
				ours.forgetMadeUp(theirs)
				if !reflect.DeepEqual(ours, theirs) {
					t.Errorf("ours %+v\ntheirs %+v", ours, theirs)
				}
			})
		}
	}
}

// sealed makes the lab think once, and returns its signature of that.
func sealed(t *testing.T, wire string, lab *faultlab.Lab) string {
	lab.Script("m", faultlab.Thinking("hm", faultlab.Answer("x")))
	answer := ask(t, wire, lab, llm.Request{Model: wire + "/m", Messages: []llm.Message{llm.User("hi")}})
	for _, p := range answer.Message("").Parts {
		if p.Thinking != nil {
			return p.Thinking.Signature
		}
	}
	t.Fatal("the lab did not think")
	return ""
}

// forgetMadeUp removes from h the ids that the adapter had to invent, since the stream had none.
func (h heard) forgetMadeUp(theirs heard) {
	for i := range min(len(h.Calls), len(theirs.Calls)) {
		if theirs.Calls[i].ID == "" && h.Calls[i].ID != "" {
			h.Calls[i].ID = ""
		}
	}
}

// version is the end of a base URL.
var version = map[string]string{
	provider.TypeAnthropic: "/v1", provider.TypeOpenAI: "/v1", provider.TypeResponses: "/v1", provider.TypeGemini: "/v1beta",
}

// listen asks through our adapter, and adds what only the SDKs report.
func listen(t *testing.T, wire string, handler http.Handler, request llm.Request) heard {
	t.Helper()
	answer := ask(t, wire, handler, request)
	message := answer.Message("")
	out := heard{Text: message.Text(), In: answer.Usage.InputTokens + answer.Usage.CacheReadTokens, Out: answer.Usage.OutputTokens}
	for _, part := range message.Parts {
		if part.Thinking != nil {
			out.Thought += part.Thinking.Text
		}
	}
	for _, c := range message.Calls() {
		out.Calls = append(out.Calls, called{c.ID, c.Name, string(c.Args)})
	}
	return out
}

// ask asks through our adapter.
func ask(t *testing.T, wire string, handler http.Handler, request llm.Request) llm.Answer {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	set, err := provider.New([]provider.Entry{{Name: wire, Type: wire, BaseURL: server.URL + version[wire], Key: "test-key"}})
	if err != nil {
		t.Fatal(err)
	}
	model, err := set.Model(request.Model)
	if err != nil {
		t.Fatal(err)
	}
	var answer llm.Answer
	for delta, err := range model.Stream(t.Context(), request) {
		if err != nil {
			t.Fatal(err)
		}
		answer.Add(delta)
	}
	return answer
}

// sameJSON converts a request to the SDK's type and back; "stream" is left to the SDK.
func sameJSON(t *testing.T, sent []byte, params any) {
	t.Helper()
	if err := json.Unmarshal(sent, params); err != nil {
		t.Fatal(err)
	}
	back, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	want, got := object(t, sent), object(t, back)
	delete(want, "stream")
	if !reflect.DeepEqual(want, got) {
		t.Errorf("sent  %s\nbecame %s", sent, back)
	}
}

func object(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	listTexts(out)
	return out
}

// listTexts turns each single text into a list of that text, as the SDKs write it. Both forms mean
// the same on both wires.
func listTexts(in any) {
	switch v := in.(type) {
	case map[string]any:
		for _, name := range []string{"content", "system"} {
			if text, ok := v[name].(string); ok {
				v[name] = []any{map[string]any{"type": "text", "text": text}}
			}
		}
		for _, inner := range v {
			listTexts(inner)
		}
	case []any:
		for _, inner := range v {
			listTexts(inner)
		}
	}
}

func hearAnthropic(t *testing.T, url string) heard {
	client := newAnthropic(http.DefaultClient, url)
	stream := client.Messages.NewStreaming(t.Context(), anthropicParams)
	var message anthropicsdk.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	out := heard{In: message.Usage.InputTokens, Out: message.Usage.OutputTokens}
	for _, block := range message.Content {
		switch block.Type {
		case "thinking":
			out.Thought += block.Thinking
		case "text":
			out.Text += block.Text
		case "tool_use":
			out.Calls = append(out.Calls, called{block.ID, block.Name, string(block.Input)})
		}
	}
	return out
}

func hearOpenAI(t *testing.T, url string) heard {
	client := newOpenAI(http.DefaultClient, url)
	stream := client.Chat.Completions.NewStreaming(t.Context(), chatParams)
	var (
		whole openaisdk.ChatCompletionAccumulator
		out   heard
	)
	for stream.Next() {
		if !whole.AddChunk(stream.Current()) {
			t.Fatal("the SDK refuses a chunk")
		}
		for _, c := range stream.Current().Choices {
			var thought string // the SDK has no field for it
			_ = json.Unmarshal([]byte(c.Delta.JSON.ExtraFields["reasoning_content"].Raw()), &thought)
			out.Thought += thought
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	out.Text, out.In, out.Out = whole.Choices[0].Message.Content, whole.Usage.PromptTokens, whole.Usage.CompletionTokens
	for _, c := range whole.Choices[0].Message.ToolCalls {
		out.Calls = append(out.Calls, called{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return out
}

func hearResponses(t *testing.T, url string) heard {
	client := newOpenAI(http.DefaultClient, url)
	stream := client.Responses.NewStreaming(t.Context(), responsesParams)
	var whole responses.Response
	for stream.Next() {
		if event := stream.Current(); event.Type == "response.completed" {
			whole = event.Response
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	out := heard{Text: whole.OutputText(), In: whole.Usage.InputTokens, Out: whole.Usage.OutputTokens}
	for _, item := range whole.Output {
		for _, part := range item.Summary {
			out.Thought += part.Text
		}
		if item.Type == "function_call" {
			out.Calls = append(out.Calls, called{item.CallID, item.Name, item.Arguments.OfString})
		}
	}
	return out
}

func hearGenai(t *testing.T, url string) heard {
	var out heard
	for answer, err := range newGenai(http.DefaultClient, url).Models.GenerateContentStream(t.Context(), "m", genai.Text("hi"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if usage := answer.UsageMetadata; usage != nil {
			out.In, out.Out = int64(usage.PromptTokenCount), int64(usage.CandidatesTokenCount+usage.ThoughtsTokenCount)
		}
		for _, part := range answer.Candidates[0].Content.Parts {
			if part.Thought {
				out.Thought += part.Text
			} else {
				out.Text += part.Text
			}
			if c := part.FunctionCall; c != nil {
				args, err := json.Marshal(c.Args)
				if err != nil {
					t.Fatal(err)
				}
				out.Calls = append(out.Calls, called{c.ID, c.Name, string(args)})
			}
		}
	}
	return out
}
