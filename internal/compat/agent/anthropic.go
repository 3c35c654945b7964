package main

import (
	"cmp"
	"context"
	"fmt"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
)

// anthropic is the tool loop over streamed Messages.
func (a *agent) anthropic(ctx context.Context) error {
	client := anthropicsdk.NewClient()
	params := anthropicsdk.MessageNewParams{
		Model: cmp.Or(a.model, "claude-sonnet-4-5"), MaxTokens: 500,
		Messages: []anthropicsdk.MessageParam{anthropicsdk.NewUserMessage(anthropicsdk.NewTextBlock(question))},
		Tools: []anthropicsdk.ToolUnionParam{{OfTool: &anthropicsdk.ToolParam{
			Name: toolName, Description: anthropicsdk.String(toolSays),
			InputSchema: anthropicsdk.ToolInputSchemaParam{Properties: toolTakes["properties"], Required: []string{"city"}},
		}}},
	}
	for {
		stream := client.Messages.NewStreaming(ctx, params)
		var whole anthropicsdk.Message
		for stream.Next() {
			event := stream.Current()
			if err := whole.Accumulate(event); err != nil {
				return err
			}
			if delta, ok := event.AsAny().(anthropicsdk.ContentBlockDeltaEvent); ok {
				fmt.Fprint(a.out, delta.Delta.Text)
			}
		}
		if err := stream.Err(); err != nil {
			return err
		}
		var results []anthropicsdk.ContentBlockParamUnion
		for _, block := range whole.Content {
			if call, ok := block.AsAny().(anthropicsdk.ToolUseBlock); ok {
				result, err := weather(string(call.Input))
				if err != nil {
					return err
				}
				results = append(results, anthropicsdk.NewToolResultBlock(call.ID, result, false))
			}
		}
		if len(results) == 0 {
			return nil
		}
		params.Messages = append(params.Messages, whole.ToParam(), anthropicsdk.NewUserMessage(results...))
	}
}
