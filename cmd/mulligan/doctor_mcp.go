package main

import (
	"context"

	"github.com/mulligan-run/mulligan/runner/mcp"
	"github.com/mulligan-run/mulligan/show"
)

// mcpServers says for each server whether it runs.
func (d *doctor) mcpServers(ctx context.Context) error {
	if err := d.OpenMCP(ctx); err != nil || d.MCP == nil {
		return err
	}
	for _, s := range d.MCP.States() {
		if s.Status == mcp.StatusRunning {
			d.good("MCP server %s runs: %s", s.Name, show.Plural(s.Tools, "tool", "tools"))
			continue
		}
		d.bad("see mcp: in the config", "MCP server %s does not run: %s", s.Name, s.LastError)
	}
	return nil
}
