package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/runner"
)

// Limits on what a server may offer. A larger tool is left out.
const (
	maxTools       = 128
	maxListed      = 2048 // tools that are read
	maxDescription = 4 << 10
	maxSchema      = 64 << 10
)

// listTools asks for the tools on all pages, which together may be as long as one message.
func listTools(ctx context.Context, session *sdk.ClientSession) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	size := 0
	params := &sdk.ListToolsParams{}
	for pages := 0; pages < maxListed && len(all) < maxListed; pages++ {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(page)
		if size += len(text); err != nil || size > maxMessage {
			return nil, cmp.Or(err, fmt.Errorf("all pages together have more than %d MiB", maxMessage>>20))
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			break
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return all[:min(len(all), maxListed)], nil
}

// offer makes the tools for runs from the server's list. A wanted tool that has to be left out is
// logged with its name.
func (s *server) offer(listed []*sdk.Tool) []runner.Tool {
	var tools []runner.Tool
	taken := map[string]bool{}
	s.missing(listed)
	for _, t := range listed {
		if t == nil || !s.spec.offers(t.Name) {
			continue
		}
		tool, err := s.tool(t)
		switch {
		case err != nil:
		case taken[tool.Name]:
			err = fmt.Errorf("another one has the name %s", tool.Name)
		case len(tools) == maxTools:
			err = fmt.Errorf("it has more than %d tools: choose by include or exclude", maxTools)
		}
		if err != nil {
			s.logger.Warn("a tool of an MCP server is left out", "tool", printable(t.Name, 100), "err", err)
			continue
		}
		taken[tool.Name] = true
		tools = append(tools, tool)
	}
	return tools
}

// missing logs the tools that the configuration names and the server does not have.
func (s *server) missing(listed []*sdk.Tool) {
	for _, name := range slices.Concat(s.spec.Include, slices.Sorted(maps.Keys(s.spec.Safety)), s.spec.Approval) {
		if name != allTools && !slices.ContainsFunc(listed, func(t *sdk.Tool) bool { return t != nil && t.Name == name }) {
			s.logger.Warn("an MCP server does not have a tool that its configuration names", "tool", printable(name, 100))
		}
	}
}

func (s *server) tool(t *sdk.Tool) (runner.Tool, error) {
	description := t.Description
	if strings.TrimSpace(description) == "" {
		description = t.Title
	}
	if len(description) > maxDescription {
		return runner.Tool{}, fmt.Errorf("its description has %d bytes; %d are allowed", len(description), maxDescription)
	}
	schema, err := json.Marshal(t.InputSchema)
	switch {
	case err != nil || !bytes.HasPrefix(schema, []byte("{")):
		return runner.Tool{}, fmt.Errorf("its input schema is not an object")
	case len(schema) > maxSchema:
		return runner.Tool{}, fmt.Errorf("its input schema has %d bytes; %d are allowed", len(schema), maxSchema)
	case t.Name == "":
		return runner.Tool{}, fmt.Errorf("it has no name")
	}
	tool := runner.Tool{
		Name: offeredName(s.spec.Name, t.Name), Description: description, Schema: schema,
		Safety: s.spec.safety(t), Timeout: s.spec.Timeout, Needs: s.spec.Needs, Approval: s.spec.approval(t.Name),
	}
	tool.Run = func(ctx context.Context, call runner.ToolCall) (string, error) {
		return s.call(ctx, t.Name, tool.Safety, call)
	}
	return tool, tool.Check()
}
