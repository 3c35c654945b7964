package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/internal/doubling"
)

// TestAnswersOfTwiceTheSize: what a server writes costs as much as it is long: messages and what
// is none, results and lists of tools.
func TestAnswersOfTwiceTheSize(t *testing.T) {
	if testing.Short() {
		t.Skip("measures what large inputs cost")
	}
	keys := func(n int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, `"key%d":1,`, i)
		}
		return s.String()
	}
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, answer := range map[string]func(n int) string{
		"lines that are no message": func(n int) string { return strings.Repeat("hello\n", n) },
		"empty lines":               func(n int) string { return strings.Repeat("\n", n) },
		"a line without an end":     func(n int) string { return strings.Repeat("x", 64*n) },
		"small messages":            func(n int) string { return strings.Repeat(`{"jsonrpc":"2.0","method":"m"}`+"\n", n) },
		"unknown keys":              func(n int) string { return `{` + keys(n) + `"jsonrpc":"2.0"}` + "\n" },
		"deep":                      func(n int) string { return `{"jsonrpc":"2.0","a":` + nested(n) + `}` + "\n" },
		"contents":                  func(n int) string { return result(strings.Repeat(`{"type":"text","text":"a"},`, n)) },
		"images":                    func(n int) string { return result(strings.Repeat(`{"type":"image","data":"","mimeType":"a/b"},`, n)) },
		"links":                     func(n int) string { return result(strings.Repeat(`{"type":"resource_link","name":"a","uri":"b"},`, n)) },
		"a long text":               func(n int) string { return result(`{"type":"text","text":"` + strings.Repeat("x", 64*n) + `"},`) },
		"structured": func(n int) string {
			return `{"jsonrpc":"2.0","structuredContent":{` + keys(n) + `"a":1},"content":[]}` + "\n"
		},
		"tools": func(n int) string {
			return tools(strings.Repeat(`{"name":"t","inputSchema":{"type":"object"}},`, n))
		},
		"a tool with many parameters": func(n int) string {
			return tools(`{"name":"t","inputSchema":{"type":"object","properties":{` + strings.ReplaceAll(keys(n), ":1", ":{}") + `"a":{}}}},`)
		},
		"a tool with a deep schema": func(n int) string {
			return tools(`{"name":"t","inputSchema":{"type":"object","a":` + nested(n/10) + `}},`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(Spec{Name: "s", Command: []string{"s"}}, usualPace, quiet)
			doubling.Check(t, 4000, func(n int) func() {
				text := answer(n)
				return func() { taken(t, s, text) }
			})
		})
	}
}

func result(contents string) string {
	return `{"jsonrpc":"2.0","content":[` + strings.TrimSuffix(contents, ",") + "]}\n"
}

func tools(list string) string {
	return `{"jsonrpc":"2.0","tools":[` + strings.TrimSuffix(list, ",") + "]}\n"
}

// taken is what is done with a server's standard output.
func taken(t *testing.T, s *server, text string) {
	t.Helper()
	in := json.NewDecoder(newMessages(io.NopCloser(strings.NewReader(text)), s.heardNoise))
	for {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return // the end, or what the connection breaks at
		}
		var r sdk.CallToolResult
		if err := json.Unmarshal(raw, &r); err == nil {
			_, _ = resultText(&r)
		}
		var l sdk.ListToolsResult
		if err := json.Unmarshal(raw, &l); err == nil {
			s.offer(l.Tools)
		}
	}
}
