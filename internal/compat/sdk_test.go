package compat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	openaisdk "github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/mulligan-run/mulligan/provider"
)

// sdk is an official client library, with its own retries switched off.
type sdk struct {
	wire string
	// ask requests a stream and reads it to the end; heard is called with each piece of text.
	ask func(ctx context.Context, client *http.Client, url string, heard func(string)) error
	// whole requests an answer that is not streamed.
	whole func(ctx context.Context, client *http.Client, url string) (string, error)

	begin, end, failed string // pieces of a stream: up to some text, the rest, and an error instead of the rest
	document           string // an answer that is not streamed
	refusal            string // the body of a 429
}

const someText = "some text"

var sdks = []sdk{anthropicSDK, chatSDK, responsesSDK, genaiSDK}

var anthropicSDK = sdk{
	wire: provider.TypeAnthropic, ask: askAnthropic,
	whole: func(ctx context.Context, client *http.Client, url string) (string, error) {
		sdk := newAnthropic(client, url)
		message, err := sdk.Messages.New(ctx, anthropicParams)
		if err != nil || len(message.Content) == 0 {
			return "", err
		}
		return message.Content[0].Text, nil
	},
	begin: `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some text"}}

`,
	end: `event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`,
	failed:   "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
	document: `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"some text"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`,
	refusal:  `{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}`,
}

var chatSDK = sdk{
	wire: provider.TypeOpenAI, ask: askChat,
	whole: func(ctx context.Context, client *http.Client, url string) (string, error) {
		openai := newOpenAI(client, url)
		answer, err := openai.Chat.Completions.New(ctx, chatParams)
		if err != nil || len(answer.Choices) == 0 {
			return "", err
		}
		return answer.Choices[0].Message.Content, nil
	},
	begin:    "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"some text\"},\"finish_reason\":null}]}\n\n",
	end:      "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
	failed:   "data: {\"error\":{\"message\":\"The server is currently overloaded with other requests.\",\"type\":\"server_error\",\"code\":\"server_is_overloaded\"}}\n\n",
	document: `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"some text"},"finish_reason":"stop"}]}`,
	refusal:  openaiRefusal,
}

const openaiRefusal = `{"error":{"message":"Rate limit reached for requests.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`

var responsesSDK = sdk{
	wire: provider.TypeResponses, ask: askResponses,
	whole: func(ctx context.Context, client *http.Client, url string) (string, error) {
		openai := newOpenAI(client, url)
		answer, err := openai.Responses.New(ctx, responsesParams)
		if err != nil {
			return "", err
		}
		return answer.OutputText(), nil
	},
	begin: `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"some text"}

`,
	end: `event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"some text","annotations":[]}]}}

event: response.completed
data: {"type":"response.completed","sequence_number":5,"response":{"id":"resp_1","status":"completed","output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"some text","annotations":[]}]}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}

`,
	failed: `event: response.failed
data: {"type":"response.failed","sequence_number":4,"response":{"id":"resp_1","status":"failed","error":{"code":"server_is_overloaded","message":"Our servers are currently overloaded. Please try again later."},"output":[]}}

`,
	document: `{"id":"resp_1","object":"response","status":"completed","error":null,"output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"some text","annotations":[]}]}]}`,
	refusal:  openaiRefusal,
}

var genaiSDK = sdk{
	wire: provider.TypeGemini, ask: askGenai,
	whole: func(ctx context.Context, client *http.Client, url string) (string, error) {
		answer, err := newGenai(client, url).Models.GenerateContent(ctx, "m", genai.Text("hi"), nil)
		if err != nil {
			return "", err
		}
		return answer.Text(), nil
	},
	begin:    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"some text\"}]},\"index\":0}],\"responseId\":\"g1\"}\n\n",
	end:      "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"\"}]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":1,\"candidatesTokenCount\":2}}\n\n",
	failed:   "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded. Please try again later.\",\"status\":\"UNAVAILABLE\"}}\n\n",
	document: `{"candidates":[{"content":{"role":"model","parts":[{"text":"some text"}]},"finishReason":"STOP","index":0}]}`,
	refusal:  `{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`,
}

const sdkKey = "sk-observer-0123456789"

var anthropicParams = anthropicsdk.MessageNewParams{
	Model: "m", MaxTokens: 9, Messages: []anthropicsdk.MessageParam{anthropicsdk.NewUserMessage(anthropicsdk.NewTextBlock("hi"))},
}

func newAnthropic(client *http.Client, url string) anthropicsdk.Client {
	return anthropicsdk.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey(sdkKey),
		anthropicoption.WithHTTPClient(client), anthropicoption.WithMaxRetries(0))
}

func askAnthropic(ctx context.Context, client *http.Client, url string, heard func(string)) error {
	sdk := newAnthropic(client, url)
	stream := sdk.Messages.NewStreaming(ctx, anthropicParams)
	defer stream.Close()
	for stream.Next() {
		heard(stream.Current().Delta.Text)
	}
	return stream.Err()
}

func newOpenAI(client *http.Client, url string) openaisdk.Client {
	return openaisdk.NewClient(openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey(sdkKey),
		openaioption.WithHTTPClient(client), openaioption.WithMaxRetries(0))
}

var chatParams = openaisdk.ChatCompletionNewParams{
	Model: "m", Messages: []openaisdk.ChatCompletionMessageParamUnion{openaisdk.UserMessage("hi")},
}

func askChat(ctx context.Context, client *http.Client, url string, heard func(string)) error {
	openai := newOpenAI(client, url)
	stream := openai.Chat.Completions.NewStreaming(ctx, chatParams)
	defer stream.Close()
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			heard(c.Delta.Content)
		}
	}
	return stream.Err()
}

var responsesParams = responses.ResponseNewParams{
	Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openaisdk.String("hi")},
}

func askResponses(ctx context.Context, client *http.Client, url string, heard func(string)) error {
	openai := newOpenAI(client, url)
	stream := openai.Responses.NewStreaming(ctx, responsesParams)
	defer stream.Close()
	for stream.Next() {
		if event := stream.Current(); event.Type == "response.output_text.delta" {
			heard(event.Delta)
		}
	}
	return stream.Err()
}

func newGenai(client *http.Client, url string) *genai.Client {
	made, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: sdkKey, Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		panic(err) // the configuration is our own
	}
	return made
}

func askGenai(ctx context.Context, client *http.Client, url string, heard func(string)) error {
	for answer, err := range newGenai(client, url).Models.GenerateContentStream(ctx, "m", genai.Text("hi"), nil) {
		if err != nil {
			return err
		}
		heard(answer.Text())
	}
	return nil
}

// says summarizes an SDK's error in a word or two.
func says(err error) string {
	var (
		anthropicErr *anthropicsdk.Error
		openaiErr    *openaisdk.Error
		streamErr    *ssestream.StreamError
		genaiErr     genai.APIError
		syntax       *json.SyntaxError
		network      *net.OpError
	)
	switch {
	case err == nil:
		return "nil"
	case errors.As(err, &anthropicErr):
		return fmt.Sprint("api ", anthropicErr.StatusCode)
	case errors.As(err, &openaiErr):
		return fmt.Sprint("api ", openaiErr.StatusCode)
	case errors.As(err, &genaiErr):
		return fmt.Sprint("api ", genaiErr.Code)
	case errors.As(err, &streamErr):
		return "stream error"
	case errors.As(err, &network):
		return "network"
	case errors.As(err, &syntax):
		return "syntax"
	case strings.Contains(err.Error(), "invalid stream chunk"):
		return "invalid chunk"
	}
	return err.Error()
}

func client(t *testing.T, s sdk) *http.Client {
	t.Helper()
	transport, err := provider.NewTransport(provider.TransportConfig{Type: s.wire})
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: transport}
}
