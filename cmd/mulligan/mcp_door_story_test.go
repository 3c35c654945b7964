package main

import (
	"context"
	"strings"
	"testing"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPDoor: an MCP client starts the program, has it run a prompt, and its user presses a button.
func TestMCPDoor(t *testing.T) {
	h := newHome(t, "503, answer:Here I am.")
	press := func(context.Context, *protocol.ElicitRequest) (*protocol.ElicitResult, error) {
		return &protocol.ElicitResult{Action: "accept", Content: map[string]any{"action": "a1"}}, nil
	}
	client := protocol.NewClient(&protocol.Implementation{Name: "story"}, &protocol.ClientOptions{ElicitationHandler: press})
	session, err := client.Connect(t.Context(), &protocol.CommandTransport{Command: h.command("mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(t.Context(), &protocol.CallToolParams{Name: "run", Arguments: map[string]any{"prompt": "hi", "autoRecover": false}})
	if err != nil {
		t.Fatal(err)
	}
	if said := result.Content[0].(*protocol.TextContent).Text; result.IsError || !strings.Contains(said, "Here I am.") {
		t.Errorf("%+v: %s", result, said)
	}
}
