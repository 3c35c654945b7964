package compat

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
	"github.com/mulligan-run/mulligan/wire/gemini"
	"github.com/mulligan-run/mulligan/wire/openai"
	responseswire "github.com/mulligan-run/mulligan/wire/responses"
)

// TestRequestsOfSDKs: a request of an official SDK is read as its caller meant it, and means the
// same on every wire.
func TestRequestsOfSDKs(t *testing.T) {
	for name, c := range map[string]struct {
		ask    func(t *testing.T, url string)
		decode func([]byte) (wire.Asked, error)
		want   wire.Asked
	}{
		"anthropic": {writeAnthropic, anthropic.Decode, meant(wire.Asked{
			Stream: true, Usage: true, LeftOut: []string{"the choice among few words (top_k)"}, Session: "s-1",
		}, func(r *llm.Request) {
			r.Format.Name, r.Format.Strict = "", false
			r.Messages[1].Parts = append([]llm.Part{{Thinking: &llm.Thinking{Text: "hm", Signature: "c2ln"}}}, r.Messages[1].Parts...)
		})},
		"openai": {writeChat, openai.Decode, meant(wire.Asked{
			Stream: true, Usage: true, LeftOut: []string{"the seed (seed)"}, Session: "s-1",
		}, nil)},
		"responses": {writeResponses, responseswire.Decode, meant(wire.Asked{
			Stream: true, Usage: true, LeftOut: []string{"how much is to be said (text.verbosity)"}, Session: "s-1",
		}, func(r *llm.Request) {
			r.Messages[1].Parts = append([]llm.Part{{Thinking: &llm.Thinking{Text: "hm", Signature: responseswire.Sign("rs_1", "c2ln")}}}, r.Messages[1].Parts...)
		})},
		"gemini": {writeGenai, gemini.Decode, meant(wire.Asked{
			Usage: true, LeftOut: []string{"the seed (generationConfig.seed)"},
		}, func(r *llm.Request) {
			r.Format.Name, r.Format.Strict = "", false
			r.Messages[1].Parts[1].Call.Signature = "c2ln"
		})},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.decode(written(t, c.ask))
			if err != nil {
				t.Fatal(err)
			}
			if got.Whole == nil {
				t.Error("nothing forbids to go on with an answer that has a form")
			}
			got.Whole = nil
			if name != "gemini" { // there it is in the path
				c.want.Model = "m"
			}
			for _, asked := range []*wire.Asked{&got, &c.want} {
				for i := range asked.Request.Tools {
					asked.Request.Tools[i].Schema = compact(t, asked.Request.Tools[i].Schema)
				}
				asked.Request.Format.Schema = compact(t, asked.Request.Format.Schema)
			}
			if !reflect.DeepEqual(got, c.want) {
				g, _ := json.Marshal(got)
				w, _ := json.Marshal(c.want)
				t.Errorf("read\n%s\nwant\n%s", g, w)
			}
		})
	}
}

var (
	weather = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}
	report  = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}
)

// meant is the request that every SDK is given; own is what one SDK does differently.
func meant(asked wire.Asked, own func(*llm.Request)) wire.Asked {
	schema, _ := json.Marshal(weather)
	form, _ := json.Marshal(report)
	asked.Request = llm.Request{
		System: "Be brief.", MaxOutputTokens: 900, Temperature: new(0.5),
		Tools:      []llm.Tool{{Name: "weather", Description: "How warm", Schema: schema}},
		ToolChoice: llm.ToolChoice{Mode: llm.ToolRequired, Name: "weather"},
		Format:     &llm.Format{Name: "report", Schema: form, Strict: true},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: "<q> & more"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte("pixels")}}}},
			{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "See."}, {Call: &llm.ToolCall{ID: "call_1", Name: "weather", Args: json.RawMessage(`{"city":"Köln"}`)}}}},
			{Role: llm.RoleTool, Parts: []llm.Part{{Result: &llm.ToolResult{CallID: "call_1", Name: "weather", Text: "14 °C"}}}},
			llm.User("and?"),
		},
	}
	if own != nil {
		own(&asked.Request)
	}
	return asked
}

const pixels = "cGl4ZWxz"

// written is the body of the request that ask makes; it gets no answer.
func written(t *testing.T, ask func(t *testing.T, url string)) (body []byte) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	ask(t, server.URL)
	return body
}

func compact(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writeAnthropic(t *testing.T, url string) {
	client := newAnthropic(http.DefaultClient, url)
	stream := client.Messages.NewStreaming(t.Context(), anthropicsdk.MessageNewParams{
		Model: "m", MaxTokens: 900, Temperature: anthropicsdk.Float(0.5), TopK: anthropicsdk.Int(5),
		System:   []anthropicsdk.TextBlockParam{{Text: "Be brief."}},
		Metadata: anthropicsdk.MetadataParam{UserID: anthropicsdk.String(`{"session_id":"s-1"}`)},
		Tools: []anthropicsdk.ToolUnionParam{{OfTool: &anthropicsdk.ToolParam{
			Name: "weather", Description: anthropicsdk.String("How warm"), InputSchema: anthropicsdk.ToolInputSchemaParam{Properties: weather["properties"]},
		}}},
		ToolChoice:   anthropicsdk.ToolChoiceParamOfTool("weather"),
		OutputConfig: anthropicsdk.OutputConfigParam{Format: anthropicsdk.JSONOutputFormatParam{Schema: report}},
		Messages: []anthropicsdk.MessageParam{
			anthropicsdk.NewUserMessage(anthropicsdk.NewTextBlock("<q> & more"), anthropicsdk.NewImageBlockBase64("image/png", pixels)),
			anthropicsdk.NewAssistantMessage(anthropicsdk.NewThinkingBlock("c2ln", "hm"), anthropicsdk.NewTextBlock("See."),
				anthropicsdk.NewToolUseBlock("call_1", map[string]any{"city": "Köln"}, "weather")),
			anthropicsdk.NewUserMessage(anthropicsdk.NewToolResultBlock("call_1", "14 °C", false), anthropicsdk.NewTextBlock("and?")),
		},
	})
	defer stream.Close()
	for stream.Next() {
		t.Error("there is an answer")
	}
}

func writeChat(t *testing.T, url string) {
	client := newOpenAI(http.DefaultClient, url)
	called := openaisdk.ChatCompletionAssistantMessageParam{
		ToolCalls: []openaisdk.ChatCompletionMessageToolCallUnionParam{{OfFunction: &openaisdk.ChatCompletionMessageFunctionToolCallParam{
			ID: "call_1", Function: openaisdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "weather", Arguments: `{"city":"Köln"}`},
		}}},
	}
	called.Content.OfString = openaisdk.String("See.")
	stream := client.Chat.Completions.NewStreaming(t.Context(), openaisdk.ChatCompletionNewParams{
		Model: "m", MaxCompletionTokens: openaisdk.Int(900), Temperature: openaisdk.Float(0.5), Seed: openaisdk.Int(5),
		PromptCacheKey: openaisdk.String("s-1"), StreamOptions: openaisdk.ChatCompletionStreamOptionsParam{IncludeUsage: openaisdk.Bool(true)},
		Tools: []openaisdk.ChatCompletionToolUnionParam{openaisdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "weather", Description: openaisdk.String("How warm"), Parameters: weather,
		})},
		ToolChoice: openaisdk.ToolChoiceOptionFunctionToolChoice(openaisdk.ChatCompletionNamedToolChoiceFunctionParam{Name: "weather"}),
		ResponseFormat: openaisdk.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "report", Schema: report, Strict: param.NewOpt(true)},
		}},
		Messages: []openaisdk.ChatCompletionMessageParamUnion{
			openaisdk.DeveloperMessage("Be brief."),
			openaisdk.UserMessage([]openaisdk.ChatCompletionContentPartUnionParam{
				openaisdk.TextContentPart("<q> & more"), openaisdk.ImageContentPart(openaisdk.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + pixels}),
			}),
			{OfAssistant: &called},
			openaisdk.ToolMessage("14 °C", "call_1"),
			openaisdk.UserMessage("and?"),
		},
	})
	defer stream.Close()
	for stream.Next() {
		t.Error("there is an answer")
	}
}

func writeResponses(t *testing.T, url string) {
	client := newOpenAI(http.DefaultClient, url)
	reasoning := responses.ResponseInputItemParamOfReasoning("rs_1", []responses.ResponseReasoningItemSummaryParam{{Text: "hm"}})
	reasoning.OfReasoning.EncryptedContent = openaisdk.String("c2ln")
	output := responses.ResponseInputItemParamOfFunctionCallOutput("14 °C")
	output.OfFunctionCallOutput.CallID = openaisdk.String("call_1")
	tool := responses.ToolParamOfFunction("weather", weather, false)
	tool.OfFunction.Description = openaisdk.String("How warm")
	form := responses.ResponseFormatTextConfigParamOfJSONSchema("report", report)
	form.OfJSONSchema.Strict = openaisdk.Bool(true)
	stream := client.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{
		Model: "m", MaxOutputTokens: openaisdk.Int(900), Temperature: openaisdk.Float(0.5), PromptCacheKey: openaisdk.String("s-1"),
		Store: openaisdk.Bool(false), Instructions: openaisdk.String("Be brief."), Tools: []responses.ToolUnionParam{tool},
		ToolChoice: responses.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &responses.ToolChoiceFunctionParam{Name: "weather"}},
		Text:       responses.ResponseTextConfigParam{Format: form, Verbosity: responses.ResponseTextConfigVerbosityLow},
		Include:    []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
				responses.ResponseInputContentParamOfInputText("<q> & more"),
				{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openaisdk.String("data:image/png;base64," + pixels), Detail: "auto"}},
			}, "user"),
			reasoning,
			responses.ResponseInputItemParamOfMessage("See.", "assistant"),
			responses.ResponseInputItemParamOfFunctionCall(`{"city":"Köln"}`, "call_1", "weather"),
			output,
			responses.ResponseInputItemParamOfMessage("and?", "user"),
		}},
	})
	defer stream.Close()
	for stream.Next() {
		t.Error("there is an answer")
	}
}

func writeGenai(t *testing.T, url string) {
	call := genai.NewPartFromFunctionCall("weather", map[string]any{"city": "Köln"})
	call.FunctionCall.ID, call.ThoughtSignature = "call_1", []byte("sig")
	result := genai.NewPartFromFunctionResponse("weather", map[string]any{"output": "14 °C"})
	result.FunctionResponse.ID = "call_1"
	_, err := newGenai(http.DefaultClient, url).Models.GenerateContent(t.Context(), "m", []*genai.Content{
		genai.NewContentFromParts([]*genai.Part{genai.NewPartFromText("<q> & more"), genai.NewPartFromBytes([]byte("pixels"), "image/png")}, "user"),
		genai.NewContentFromParts([]*genai.Part{genai.NewPartFromText("See."), call}, "model"),
		genai.NewContentFromParts([]*genai.Part{result}, "user"),
		genai.NewContentFromText("and?", "user"),
	}, &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("Be brief.", "user"), MaxOutputTokens: 900, Temperature: new(float32(0.5)), Seed: new(int32(5)),
		ResponseMIMEType: "application/json", ResponseJsonSchema: report,
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather", Description: "How warm", Parameters: &genai.Schema{
			Type: genai.TypeObject, Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}},
		}}}}},
		ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{"weather"}}},
	})
	if err == nil {
		t.Error("there is an answer")
	}
}
