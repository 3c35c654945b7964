package acp_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/acp"
)

// FuzzClient: whatever a client sends, it is answered, and the next one is served.
func FuzzClient(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}},"session":{"notices":[]}}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"a","cwd":"/","mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"a","prompt":[{"type":"resource","resource":{"uri":"file:///a","text":"b"}}]}}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"a"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"session/set_config_option","params":{"sessionId":"a","configId":"model","value":true,"type":"boolean"}}`,
		`{"id":{},"method":"session/list"}`, `[]`, `{"jsonrpc":`, "\x00",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := newCore(t)
		fromClient, toAgent := io.Pipe()
		fromAgent, toClient := io.Pipe()
		over := make(chan error, 1)
		go func() {
			over <- acp.Serve(context.Background(), acp.Config{Runs: c, Log: c.log, Models: models}, toClient, fromClient)
		}()
		go func() {
			_, _ = io.WriteString(toAgent, strings.NewReplacer("\n", "", "\r", "").Replace(line)+"\n")
			_, _ = io.WriteString(toAgent, `{"jsonrpc":"2.0","id":"the next one","method":"initialize","params":{"protocolVersion":1}}`+"\n")
		}()
		answers := bufio.NewScanner(fromAgent)
		for answers.Scan() && !strings.Contains(answers.Text(), `"id":"the next one"`) {
		}
		if err := answers.Err(); err != nil || !strings.Contains(answers.Text(), `"agentInfo"`) {
			t.Fatalf("%s, %v", answers.Text(), err)
		}
		go func() { _, _ = io.Copy(io.Discard, fromAgent) }()
		_ = toAgent.Close()
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		_ = toClient.Close()
	})
}
