package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/command"
)

// Tool is a program that is started for each call of the tool.
type Tool struct {
	Name        string          `yaml:"name"`        // 1 to 64 letters, digits, _ and -
	Description string          `yaml:"description"` // for the model
	Command     []string        `yaml:"command"`     // without a shell
	Schema      map[string]any  `yaml:"schema"`      // JSON Schema of the arguments; missing = any object
	Dir         string          `yaml:"dir"`         // where it runs, relative to the config's folder; "" = the working directory
	Env         []string        `yaml:"env"`         // NAME or NAME=value
	Safety      string          `yaml:"safety"`      // read_only, idempotent or unsafe; unsafe
	Approval    bool            `yaml:"approval"`    // a person approves of each call
	Timeout     string          `yaml:"timeout"`     // of a call; "" = the timer tool
	Grace       string          `yaml:"grace"`       // between SIGTERM and SIGKILL
	MaxOutput   int             `yaml:"max_output"`  // bytes; 0 = the maximum
	Needs       recovery.Labels `yaml:"needs"`       // what a machine must have to run it: see machine
}

// Safeties are the words for whether a call of unknown outcome may be repeated.
var Safeties = map[string]recovery.Safety{
	"": recovery.SafetyUnsafe, "unsafe": recovery.SafetyUnsafe, "idempotent": recovery.SafetyIdempotent, "read_only": recovery.SafetyReadOnly,
}

// Spans are how long a call may take, and how long its program may take to end.
func (t Tool) Spans() (timeout, grace Span) {
	return Span{"timeout", t.Timeout, 100 * time.Millisecond, 24 * time.Hour},
		Span{"grace", t.Grace, 100 * time.Millisecond, command.DefaultGrace}
}

func toolProblem(tools []Tool) *yamlfile.Problem {
	seen := map[string]bool{NoTool: true}
	for i, t := range tools {
		at := fmt.Sprintf("$.tools[%d]", i)
		if p := t.problem(at); p != nil {
			return p
		}
		if seen[t.Name] {
			return yamlfile.Problemf(at+".name", "the name %q is taken", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func (t Tool) problem(at string) *yamlfile.Problem {
	if err := command.CheckName(t.Name); err != nil {
		return yamlfile.Problemf(at, "%v", err)
	}
	if len(t.Command) == 0 || t.Command[0] == "" {
		return yamlfile.Problemf(at, "tool %s needs a command: a list of the program and its arguments", t.Name)
	}
	schema, err := t.SchemaJSON()
	if err == nil {
		err = command.CheckSchema(schema)
	}
	if err != nil {
		return yamlfile.Problemf(at+".schema", "%v", err)
	}
	for i, variable := range t.Env {
		if err := command.CheckVariable(variable); err != nil {
			return yamlfile.Problemf(fmt.Sprintf("%s.env[%d]", at, i), "%v", err)
		}
	}
	if _, ok := Safeties[t.Safety]; !ok {
		return yamlfile.Problemf(at+".safety", "%q is not known; there are: read_only, idempotent, unsafe", t.Safety)
	}
	if t.MaxOutput != 0 && (t.MaxOutput < command.MinOutput || t.MaxOutput > runner.MaxToolResult) {
		return yamlfile.Problemf(at+".max_output", "%d is not between %d and %d bytes", t.MaxOutput, command.MinOutput, runner.MaxToolResult)
	}
	timeout, grace := t.Spans()
	if p := timeout.problem(at); p != nil {
		return p
	}
	return cmp.Or(grace.problem(at), labelsProblem(at+".needs", t.Needs))
}

// SchemaJSON is the schema as JSON, nil where none is configured.
func (t Tool) SchemaJSON() (json.RawMessage, error) {
	if t.Schema == nil {
		return nil, nil
	}
	return json.Marshal(t.Schema)
}

// placeTools resolves the folders that tools run in, relative to the config's.
func (c *Config) placeTools() {
	for i := range c.Tools {
		if dir := &c.Tools[i].Dir; *dir != "" && !filepath.IsAbs(*dir) {
			*dir = filepath.Join(filepath.Dir(c.Path), *dir)
		}
	}
}

// ToolNames lists the values of --tool, for people.
func (c *Config) ToolNames() string {
	var names []string
	for _, t := range c.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(append(names, "get_weather (the demo's)", NoTool), ", ")
}

// ToolNamed makes a function that reports whether a tool has that name.
func ToolNamed(name string) func(Tool) bool {
	return func(t Tool) bool { return t.Name == name }
}
