package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/mcp"
)

// mcpEntry is an MCP server: a program that is started, or a URL.
type mcpEntry struct {
	Command []string          `yaml:"command"` // without a shell
	Dir     string            `yaml:"dir"`     // where it runs, relative to the config's folder; "" = where we do
	Env     []string          `yaml:"env"`     // NAME or NAME=value
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"` // with ${NAME} for what is secret
	Timeout string            `yaml:"timeout"` // of a call; "" = the timer tool
	Safety  map[string]string `yaml:"safety"`  // of its tools, by a word of safeties
	Include []string          `yaml:"include"` // only these of its tools
	Exclude []string          `yaml:"exclude"`
}

func (e mcpEntry) timeout() span {
	return span{"timeout", e.Timeout, 100 * time.Millisecond, 24 * time.Hour}
}

func (e mcpEntry) spec(name string) mcp.Spec {
	safety := map[string]recovery.Safety{}
	for tool, word := range e.Safety {
		safety[tool] = safeties[word]
	}
	return mcp.Spec{
		Name: name, Command: e.Command, Dir: e.Dir, Env: e.Env, URL: e.URL, Headers: e.Headers,
		Timeout: e.timeout().duration(), Safety: safety, Include: e.Include, Exclude: e.Exclude,
	}
}

func mcpProblem(servers map[string]mcpEntry) *problem {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		e, at := servers[name], "$.mcp."+quotePath(name)
		if p := e.timeout().problem(at); p != nil {
			return p
		}
		for _, tool := range slices.Sorted(maps.Keys(e.Safety)) {
			if _, ok := safeties[e.Safety[tool]]; !ok {
				return problemf(at+".safety."+quotePath(tool), "%q is not known; there are: read_only, idempotent, unsafe", e.Safety[tool])
			}
		}
		if err := e.spec(name).Check(); err != nil {
			return problemf(at, "%s", strings.TrimPrefix(err.Error(), "MCP server "+name+": "))
		}
	}
	return nil
}

// placeMCP makes the folders that servers run in relative to the config's.
func (c *config) placeMCP() {
	for name, e := range c.MCP {
		if e.Dir != "" && !filepath.IsAbs(e.Dir) {
			e.Dir = filepath.Join(filepath.Dir(c.path), e.Dir)
			c.MCP[name] = e
		}
	}
}

// noMCP as an --mcp leaves all servers out.
const noMCP = "none"

func registerMCP(cmd *cobra.Command) {
	cmd.Flags().StringArray("mcp", nil, "one more MCP server, as NAME=COMMAND LINE, NAME=URL or URL (repeatable); none = no server at all")
}

// addMCP adds the servers of the flags to those of the config; "none" removes those before it.
func (c *config) addMCP(flags *pflag.FlagSet) error {
	lines, err := flags.GetStringArray("mcp")
	if err != nil {
		return err
	}
	c.MCP = maps.Clone(c.MCP)
	for _, line := range lines {
		if line == noMCP {
			c.MCP = nil
			continue
		}
		name, entry, err := parseMCP(line)
		if err == nil {
			err = entry.spec(name).Check()
		}
		if err != nil {
			return usagef("--mcp %q: %w", line, err)
		}
		if c.MCP == nil {
			c.MCP = map[string]mcpEntry{}
		}
		c.MCP[name] = entry
	}
	return nil
}

// parseMCP reads what --mcp takes. A URL without a name is named after its host.
func parseMCP(line string) (name string, entry mcpEntry, err error) {
	name, rest, ok := strings.Cut(line, "=")
	if !ok || strings.Contains(name, "://") {
		u, err := url.Parse(line)
		if err != nil || u.Host == "" {
			return "", entry, errors.New("write NAME=COMMAND LINE, NAME=URL or URL")
		}
		return nameOfHost(u.Hostname()), mcpEntry{URL: line}, nil
	}
	if strings.HasPrefix(rest, "https://") || strings.HasPrefix(rest, "http://") {
		return name, mcpEntry{URL: rest}, nil
	}
	words, err := splitWords(rest)
	return name, mcpEntry{Command: words}, err
}

// nameOfHost makes mcp_example_com of mcp.example.com.
func nameOfHost(host string) string {
	name := strings.Join(strings.FieldsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}), "_")
	if mcp.CheckName(name) != nil {
		name = "at_" + name
	}
	return name[:min(len(name), 32)]
}

// isMCP reports whether a tool's name is one of a configured server's.
func (c *config) isMCP(tool string) bool {
	server, _, ok := strings.Cut(tool, "__")
	_, known := c.MCP[server]
	return ok && known
}

// openMCP starts the servers that are configured, once.
func (a *app) openMCP(ctx context.Context) (err error) {
	if a.mcp != nil || len(a.config.MCP) == 0 {
		return nil
	}
	var specs []mcp.Spec
	for _, name := range slices.Sorted(maps.Keys(a.config.MCP)) {
		specs = append(specs, a.config.MCP[name].spec(name))
	}
	a.mcp, err = mcp.Open(ctx, specs, a.logger())
	return err
}

// startMCP starts the servers. One that does not run is told of, and no error.
func (a *app) startMCP(ctx context.Context) error {
	if err := a.openMCP(ctx); err != nil || a.mcp == nil {
		return err
	}
	for _, s := range a.mcp.States() {
		if s.Status != mcp.StatusRunning {
			a.screen.line(fmt.Sprintf("The MCP server %s does not run, and its tools are missing: %s", s.Name, oneLine(s.LastError)))
		}
	}
	return nil
}

// mcpBeside gives what the servers offer at the time, beside tools that have their names.
func (a *app) mcpBeside(tools []runner.Tool) func() []runner.Tool {
	return func() []runner.Tool {
		if a.mcp == nil {
			return nil
		}
		return slices.DeleteFunc(a.mcp.Tools(), func(t runner.Tool) bool { return contains(tools, t.Name) })
	}
}

// mcpTools starts the servers and adds their tools to those that there are: all, or where
// --tool chose some, those of them.
func (a *app) mcpTools(ctx context.Context, tools []runner.Tool, chosen []string) ([]runner.Tool, error) {
	all := len(chosen) == 0
	for i := slices.Index(chosen, noTool); i >= 0; i = slices.Index(chosen, noTool) {
		chosen = chosen[i+1:]
	}
	if !all && !slices.ContainsFunc(chosen, a.config.isMCP) {
		return tools, nil
	}
	if err := a.startMCP(ctx); err != nil {
		return nil, err
	}
	for _, t := range a.mcpBeside(tools)() {
		if all || slices.Contains(chosen, t.Name) {
			tools = append(tools, t)
		}
	}
	for _, name := range chosen {
		if a.config.isMCP(name) && !contains(tools, name) {
			return nil, usagef("no MCP server has the tool %q; see %s", name, a.hint("doctor"))
		}
	}
	return tools, nil
}

// closeMCP ends the servers, if any were started.
func (a *app) closeMCP() {
	if a.mcp != nil {
		a.mcp.Close()
	}
}

// mcpServers says of each server whether it runs.
func (d *doctor) mcpServers(ctx context.Context) error {
	if err := d.openMCP(ctx); err != nil || d.mcp == nil {
		return err
	}
	for _, s := range d.mcp.States() {
		if s.Status == mcp.StatusRunning {
			d.good("MCP server %s runs: %s", s.Name, plural(s.Tools, "tool", "tools"))
			continue
		}
		d.bad("see mcp: in the config", "MCP server %s does not run: %s", s.Name, s.LastError)
	}
	return nil
}
