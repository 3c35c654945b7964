package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/command"
)

// toolEntry is a tool: a program that is started for each call.
type toolEntry struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"` // for the model
	Command     []string       `yaml:"command"`     // without a shell
	Schema      map[string]any `yaml:"schema"`      // JSON Schema of the arguments; nil = an object with anything in it
	Dir         string         `yaml:"dir"`         // where it runs, relative to the config's folder; "" = where we do
	Env         []string       `yaml:"env"`         // NAME or NAME=value
	Safety      string         `yaml:"safety"`      // by a word of safeties
	Timeout     string         `yaml:"timeout"`     // of a call; "" = the timer tool
	Grace       string         `yaml:"grace"`       // between SIGTERM and SIGKILL
	MaxOutput   int            `yaml:"max_output"`  // bytes; 0 = the most
}

// safeties are what may be done with a call whose outcome is unknown.
var safeties = map[string]recovery.Safety{
	"": recovery.SafetyUnsafe, "unsafe": recovery.SafetyUnsafe, "idempotent": recovery.SafetyIdempotent, "read_only": recovery.SafetyReadOnly,
}

func (t toolEntry) spans() (timeout, grace span) {
	return span{"timeout", t.Timeout, 100 * time.Millisecond, 24 * time.Hour},
		span{"grace", t.Grace, 100 * time.Millisecond, command.DefaultGrace}
}

func toolProblem(tools []toolEntry) *problem {
	seen := map[string]bool{noTool: true}
	for i, t := range tools {
		at := fmt.Sprintf("$.tools[%d]", i)
		if p := t.problem(at); p != nil {
			return p
		}
		if seen[t.Name] {
			return problemf(at+".name", "the name %q is taken", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func (t toolEntry) problem(at string) *problem {
	if err := command.CheckName(t.Name); err != nil {
		return problemf(at, "%v", err)
	}
	if len(t.Command) == 0 || t.Command[0] == "" {
		return problemf(at, "tool %s needs a command: a list of the program and its arguments", t.Name)
	}
	schema, err := t.schema()
	if err == nil {
		err = command.CheckSchema(schema)
	}
	if err != nil {
		return problemf(at+".schema", "%v", err)
	}
	for i, variable := range t.Env {
		if err := command.CheckVariable(variable); err != nil {
			return problemf(fmt.Sprintf("%s.env[%d]", at, i), "%v", err)
		}
	}
	if _, ok := safeties[t.Safety]; !ok {
		return problemf(at+".safety", "%q is not known; there are: read_only, idempotent, unsafe", t.Safety)
	}
	if t.MaxOutput != 0 && (t.MaxOutput < command.MinOutput || t.MaxOutput > runner.MaxToolResult) {
		return problemf(at+".max_output", "%d is not between %d and %d bytes", t.MaxOutput, command.MinOutput, runner.MaxToolResult)
	}
	timeout, grace := t.spans()
	if p := timeout.problem(at); p != nil {
		return p
	}
	return grace.problem(at)
}

// schema is nil where none is configured.
func (t toolEntry) schema() (json.RawMessage, error) {
	if t.Schema == nil {
		return nil, nil
	}
	return json.Marshal(t.Schema)
}

// placeTools makes the folders that tools run in relative to the config's.
func (c *config) placeTools() {
	for i := range c.Tools {
		if dir := &c.Tools[i].Dir; *dir != "" && !filepath.IsAbs(*dir) {
			*dir = filepath.Join(filepath.Dir(c.path), *dir)
		}
	}
}

func (c *config) toolNames() string {
	var names []string
	for _, t := range c.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(append(names, "get_weather (the demo's)", noTool), ", ")
}

func named(name string) func(toolEntry) bool {
	return func(t toolEntry) bool { return t.Name == name }
}

// makeTools makes what was checked into tools. The error says which program is not there.
func makeTools(entries []toolEntry) ([]runner.Tool, error) {
	var all []runner.Tool
	for _, t := range entries {
		schema, err := t.schema()
		if err != nil {
			return nil, usage(err)
		}
		timeout, grace := t.spans()
		made, err := command.Tool(command.Spec{
			Name: t.Name, Description: t.Description, Schema: schema, Command: t.Command, Dir: t.Dir, Env: t.Env,
			Safety: safeties[t.Safety], Timeout: timeout.duration(), Grace: grace.duration(), MaxOutput: t.MaxOutput,
		})
		if err != nil {
			return nil, usage(err)
		}
		all = append(all, made)
	}
	return all, nil
}
