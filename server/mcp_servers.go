package server

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/mcp"
)

// OpenMCP starts the configured servers, once.
func (srv *Server) OpenMCP(ctx context.Context) (err error) {
	if srv.MCP != nil || len(srv.Config.MCP) == 0 {
		return nil
	}
	var specs []mcp.Spec
	for _, name := range slices.Sorted(maps.Keys(srv.Config.MCP)) {
		if e := srv.Config.MCP[name]; srv.Config.MachineHas().Has(e.Needs) {
			specs = append(specs, e.Spec(name))
		}
	}
	if len(specs) == 0 {
		return nil
	}
	srv.MCP, err = mcp.Open(ctx, specs, srv.Logger())
	return err
}

// startMCP starts the servers. One that does not start is reported, but is no error.
func (srv *Server) startMCP(ctx context.Context) error {
	if err := srv.OpenMCP(ctx); err != nil || srv.MCP == nil {
		return err
	}
	for _, s := range srv.MCP.States() {
		if s.Status != mcp.StatusRunning {
			srv.Screen.Line(fmt.Sprintf("The MCP server %s does not run, and its tools are missing: %s", s.Name, terminal.OneLine(s.LastError)))
		}
	}
	return nil
}

// mcpBeside returns the tools that the servers currently offer, without those whose names
// are taken.
func (srv *Server) mcpBeside(tools []runner.Tool) func() []runner.Tool {
	return func() []runner.Tool {
		if srv.MCP == nil {
			return nil
		}
		return slices.DeleteFunc(srv.MCP.Tools(), func(t runner.Tool) bool { return contains(tools, t.Name) })
	}
}

// MCPTools starts the servers and adds their tools to tools: all of them or, if --tool chose
// some, the chosen ones.
func (srv *Server) MCPTools(ctx context.Context, tools []runner.Tool, chosen []string) ([]runner.Tool, error) {
	all := len(chosen) == 0
	for i := slices.Index(chosen, config.NoTool); i >= 0; i = slices.Index(chosen, config.NoTool) {
		chosen = chosen[i+1:]
	}
	if !all && !slices.ContainsFunc(chosen, srv.Config.IsMCP) {
		return tools, nil
	}
	if err := srv.startMCP(ctx); err != nil {
		return nil, err
	}
	for _, t := range srv.mcpBeside(tools)() {
		if all || slices.Contains(chosen, t.Name) {
			tools = append(tools, t)
		}
	}
	for _, name := range chosen {
		if srv.Config.IsMCP(name) && !contains(tools, name) {
			return nil, exit.Usagef("no MCP server has the tool %q; see %s", name, srv.Screen.Hint("doctor"))
		}
	}
	return tools, nil
}

// closeMCP ends the servers, if any were started.
func (srv *Server) closeMCP() {
	if srv.MCP != nil {
		srv.MCP.Close()
	}
}
