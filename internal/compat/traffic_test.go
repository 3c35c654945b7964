package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	openaioption "github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"
)

var rewrite = flag.Bool("rewrite", false, "record the requests of the SDKs anew")

// traffic is where package proxy has the recordings that it is tested with.
const traffic = "../../proxy/testdata/traffic"

// calls are requests as agents make them, with fields that our readers do not know.
var calls = map[string]func(ctx context.Context, client *http.Client, url string) error{
	"messages-stream": func(ctx context.Context, client *http.Client, url string) error {
		sdk := newAnthropic(client, url)
		stream := sdk.Messages.NewStreaming(ctx, anthropicAgent, anthropicExtras...)
		defer stream.Close()
		for stream.Next() {
		}
		return stream.Err()
	},
	"messages-whole": func(ctx context.Context, client *http.Client, url string) error {
		sdk := newAnthropic(client, url)
		_, err := sdk.Messages.New(ctx, anthropicAgent, anthropicExtras...)
		return err
	},
	"chat-stream": func(ctx context.Context, client *http.Client, url string) error {
		sdk := newOpenAI(client, url)
		stream := sdk.Chat.Completions.NewStreaming(ctx, chatParams, chatExtras...)
		defer stream.Close()
		for stream.Next() {
		}
		return stream.Err()
	},
	"chat-whole": func(ctx context.Context, client *http.Client, url string) error {
		sdk := newOpenAI(client, url)
		_, err := sdk.Chat.Completions.New(ctx, chatParams, chatExtras...)
		return err
	},
	"responses-stream": func(ctx context.Context, client *http.Client, url string) error {
		sdk := newOpenAI(client, url)
		stream := sdk.Responses.NewStreaming(ctx, responsesParams, responsesExtras...)
		defer stream.Close()
		for stream.Next() {
		}
		return stream.Err()
	},
	"responses-whole": func(ctx context.Context, client *http.Client, url string) error {
		sdk := newOpenAI(client, url)
		_, err := sdk.Responses.New(ctx, responsesParams, responsesExtras...)
		return err
	},
	"gemini-stream": func(ctx context.Context, client *http.Client, url string) error {
		for _, err := range newGenai(client, url).Models.GenerateContentStream(ctx, "m", genai.Text("How is the weather in Oslo?"), geminiAgent) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"gemini-whole": func(ctx context.Context, client *http.Client, url string) error {
		_, err := newGenai(client, url).Models.GenerateContent(ctx, "m", genai.Text("How is the weather in Oslo?"), geminiAgent)
		return err
	},
}

var anthropicAgent = anthropicsdk.MessageNewParams{
	Model: "m", MaxTokens: 4096,
	System: []anthropicsdk.TextBlockParam{{Text: "You <help> & \"quote\".", CacheControl: anthropicsdk.NewCacheControlEphemeralParam()}},
	Messages: []anthropicsdk.MessageParam{
		anthropicsdk.NewUserMessage(anthropicsdk.NewTextBlock("How is the weather in Ørsta?\u2028")),
		anthropicsdk.NewAssistantMessage(anthropicsdk.NewTextBlock("I look."), anthropicsdk.NewToolUseBlock("toolu_1", json.RawMessage(`{"city": "Ørsta",  "n": 1.0}`), "weather")),
		anthropicsdk.NewUserMessage(anthropicsdk.NewToolResultBlock("toolu_1", "rain", false)),
	},
	Tools: []anthropicsdk.ToolUnionParam{{OfTool: &anthropicsdk.ToolParam{Name: "weather", InputSchema: anthropicsdk.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}}}}},
}

var anthropicExtras = []anthropicoption.RequestOption{
	anthropicoption.WithQuery("beta", "true"), anthropicoption.WithHeader("anthropic-beta", "interleaved-thinking-2025-05-14,context-management-2025-06-27"),
	anthropicoption.WithJSONSet("context_management", map[string]any{"edits": []any{map[string]any{"type": "clear_tool_uses_20250919"}}}),
	anthropicoption.WithJSONSet("metadata.user_id", `{"session_id":"s-1"}`),
}

var chatExtras = []openaioption.RequestOption{
	openaioption.WithJSONSet("stream_options", map[string]any{"include_usage": true, "include_obfuscation": false}),
	openaioption.WithJSONSet("tools", []any{map[string]any{"type": "function", "function": map[string]any{"name": "weather", "parameters": map[string]any{"type": "object"}}}}),
	openaioption.WithJSONSet("prediction", map[string]any{"type": "content", "content": "It "}), openaioption.WithJSONSet("seed", 7),
}

var responsesExtras = []openaioption.RequestOption{
	openaioption.WithJSONSet("include", []any{"reasoning.encrypted_content"}), openaioption.WithJSONSet("store", false),
	openaioption.WithJSONSet("client_metadata", map[string]any{"a": "b"}), openaioption.WithJSONSet("reasoning", map[string]any{"effort": "low", "summary": "auto"}),
	openaioption.WithJSONSet("prompt_cache_key", "k-1"), openaioption.WithHeader("session-id", "s-1"),
}

var geminiAgent = &genai.GenerateContentConfig{
	SystemInstruction: genai.NewContentFromText("You help.", genai.RoleUser), Temperature: genai.Ptr[float32](0.5),
	Tools:          []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather", Parameters: &genai.Schema{Type: genai.TypeObject}}}}},
	SafetySettings: []*genai.SafetySetting{{Category: genai.HarmCategoryHarassment, Threshold: genai.HarmBlockThresholdBlockNone}},
}

// TestTraffic: the recordings are what the SDKs send.
func TestTraffic(t *testing.T) {
	for name, call := range calls {
		var sent []byte
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent, _ = httputil.DumpRequest(r, true)
			w.WriteHeader(http.StatusTeapot)
		}))
		_ = call(t.Context(), server.Client(), server.URL) // it is answered with an error
		server.Close()
		path := filepath.Join(traffic, name+".http")
		if *rewrite {
			if err := os.WriteFile(path, anonymous(sent), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, want, _ := bytes.Cut(kept, []byte("\r\n\r\n"))
		if _, got, _ := bytes.Cut(sent, []byte("\r\n\r\n")); !bytes.Equal(got, want) {
			t.Errorf("%s sends\n%s\nand not\n%s\n(go test -run TestTraffic -rewrite records it)", name, got, want)
		}
	}
}

var (
	port    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	machine = regexp.MustCompile(`(?m)^(X-Stainless-(?:Os|Arch|Runtime-Version)): .*\r$`)
)

// anonymous removes from a recording what is specific to this machine.
func anonymous(request []byte) []byte {
	return machine.ReplaceAll(port.ReplaceAll(request, []byte("host.invalid")), []byte("$1: x\r"))
}
