package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
)

// openAI is the tool loop over streamed Chat Completions.
func (a *agent) openAI(ctx context.Context) error {
	client := openaisdk.NewClient()
	params := openaisdk.ChatCompletionNewParams{
		Model:    cmp.Or(a.model, "gpt-5.2"),
		Messages: []openaisdk.ChatCompletionMessageParamUnion{openaisdk.UserMessage(question)},
		Tools: []openaisdk.ChatCompletionToolUnionParam{openaisdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: toolName, Description: openaisdk.String(toolSays), Parameters: toolTakes,
		})},
	}
	for {
		stream := client.Chat.Completions.NewStreaming(ctx, params)
		var whole openaisdk.ChatCompletionAccumulator
		for stream.Next() {
			chunk := stream.Current()
			whole.AddChunk(chunk)
			if len(chunk.Choices) > 0 {
				fmt.Fprint(a.out, chunk.Choices[0].Delta.Content)
			}
		}
		if err := stream.Err(); err != nil {
			return err
		}
		if len(whole.Choices) == 0 {
			return errors.New("the model said nothing")
		}
		said := whole.Choices[0].Message
		if len(said.ToolCalls) == 0 {
			return nil
		}
		params.Messages = append(params.Messages, said.ToParam())
		for _, call := range said.ToolCalls {
			result, err := weather(call.Function.Arguments)
			if err != nil {
				return err
			}
			params.Messages = append(params.Messages, openaisdk.ToolMessage(result, call.ID))
		}
	}
}
