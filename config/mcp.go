package config

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner/mcp"
)

// MCPServer is an MCP server: a program that is started, or a URL.
type MCPServer struct {
	Command  []string          `yaml:"command"`  // without a shell
	Dir      string            `yaml:"dir"`      // where it runs, relative to the config's folder; "" = the working directory
	Env      []string          `yaml:"env"`      // NAME or NAME=value
	URL      string            `yaml:"url"`      // instead of a command: https, or http on this machine
	Headers  map[string]string `yaml:"headers"`  // with ${NAME} for secrets
	Timeout  string            `yaml:"timeout"`  // of a call; "" = the timer tool
	Safety   map[string]string `yaml:"safety"`   // of its tools, by name: read_only, idempotent or unsafe
	Include  []string          `yaml:"include"`  // offer only these of its tools
	Approval []string          `yaml:"approval"` // the tools of which a person approves each call; "*" = all
	Exclude  []string          `yaml:"exclude"`  // never offer these
	Needs    recovery.Labels   `yaml:"needs"`    // what a machine must have to start it, and to drive runs with its tools: see machine
}

func (e MCPServer) timeout() Span {
	return Span{"timeout", e.Timeout, 100 * time.Millisecond, 24 * time.Hour}
}

// Spec converts e to runner/mcp's form.
func (e MCPServer) Spec(name string) mcp.Spec {
	safety := map[string]recovery.Safety{}
	for tool, word := range e.Safety {
		safety[tool] = Safeties[word]
	}
	return mcp.Spec{
		Name: name, Command: e.Command, Dir: e.Dir, Env: e.Env, URL: e.URL, Headers: e.Headers,
		Timeout: e.timeout().Duration(), Safety: safety, Approval: e.Approval, Include: e.Include, Exclude: e.Exclude, Needs: e.Needs,
	}
}

func mcpProblem(servers map[string]MCPServer) *yamlfile.Problem {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		e, at := servers[name], "$.mcp."+yamlfile.QuotePath(name)
		if p := cmp.Or(e.timeout().problem(at), labelsProblem(at+".needs", e.Needs)); p != nil {
			return p
		}
		for _, tool := range slices.Sorted(maps.Keys(e.Safety)) {
			if _, ok := Safeties[e.Safety[tool]]; !ok {
				return yamlfile.Problemf(at+".safety."+yamlfile.QuotePath(tool), "%q is not known; there are: read_only, idempotent, unsafe", e.Safety[tool])
			}
		}
		if err := e.Spec(name).Check(); err != nil {
			return yamlfile.Problemf(at, "%s", strings.TrimPrefix(err.Error(), "MCP server "+name+": "))
		}
	}
	return nil
}

// placeMCP resolves the folders that servers run in, relative to the config's.
func (c *Config) placeMCP() {
	for name, e := range c.MCP {
		if e.Dir != "" && !filepath.IsAbs(e.Dir) {
			e.Dir = filepath.Join(filepath.Dir(c.Path), e.Dir)
			c.MCP[name] = e
		}
	}
}

// noMCP, as an --mcp, leaves all servers out.
const noMCP = "none"

// AddMCP adds the servers of --mcp to the configured ones; "none" removes all before it.
func (c *Config) AddMCP(lines []string) error {
	c.MCP = maps.Clone(c.MCP)
	for _, line := range lines {
		if line == noMCP {
			c.MCP = nil
			continue
		}
		name, entry, err := parseMCP(line)
		if err == nil {
			err = entry.Spec(name).Check()
		}
		if err != nil {
			return exit.Usagef("--mcp %q: %w", line, err)
		}
		if c.MCP == nil {
			c.MCP = map[string]MCPServer{}
		}
		c.MCP[name] = entry
	}
	return nil
}

// parseMCP reads an --mcp. A URL without a name is named after its host.
func parseMCP(line string) (name string, entry MCPServer, err error) {
	name, rest, ok := strings.Cut(line, "=")
	if !ok || strings.Contains(name, "://") {
		u, err := url.Parse(line)
		if err != nil || u.Host == "" {
			return "", entry, errors.New("write NAME=COMMAND LINE, NAME=URL or URL")
		}
		return nameOfHost(u.Hostname()), MCPServer{URL: line}, nil
	}
	if strings.HasPrefix(rest, "https://") || strings.HasPrefix(rest, "http://") {
		return name, MCPServer{URL: rest}, nil
	}
	words, err := splitWords(rest)
	return name, MCPServer{Command: words}, err
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

// IsMCP reports whether a tool's name belongs to a configured server.
func (c *Config) IsMCP(tool string) bool {
	server, _, ok := strings.Cut(tool, "__")
	_, known := c.MCP[server]
	return ok && known
}
