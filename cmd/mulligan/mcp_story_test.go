package main

import (
	"context"
	"os"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
)

// notesServer is an MCP server for stories: notes__list tells what it was started with, and
// notes__crash ends it.
func notesServer() {
	says := func(text string) protocol.ToolHandler {
		return func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			return &protocol.CallToolResult{Content: []protocol.Content{&protocol.TextContent{Text: text}}}, nil
		}
	}
	object := map[string]any{"type": "object"}
	server := protocol.NewServer(&protocol.Implementation{Name: "notes", Version: "1"}, nil)
	server.AddTool(&protocol.Tool{Name: "list", InputSchema: object, Annotations: &protocol.ToolAnnotations{ReadOnlyHint: true}}, says("milk, told="+os.Getenv("TOLD")+", key="+os.Getenv("LAB_KEY")))
	server.AddTool(&protocol.Tool{Name: "crash", InputSchema: object}, func(context.Context, *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		os.Stderr.WriteString("out of paper\n")
		os.Exit(3)
		return nil, nil
	})
	_ = server.Run(context.Background(), &protocol.StdioTransport{})
}
