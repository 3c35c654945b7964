package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/command"
)

// The environment variables of the demo's tool, with which a test can stop the program in the
// middle of a call and see afterwards what ran.
const (
	ToolDelayEnv   = "MULLIGAN_DEMO_TOOL_DELAY"   // how long a call takes, for example 2s
	ToolJournalEnv = "MULLIGAN_DEMO_TOOL_JOURNAL" // a file that gets a line at the beginning and the end of each call
)

// DemoTools are the tools built into this program: the demo's weather, which is always the
// same, and which only the demo's models get. It changes nothing, so a call of unknown
// outcome may be repeated.
func DemoTools(m *Models) []runner.Tool {
	return []runner.Tool{{
		Name:        "get_weather",
		Description: "The weather in a city, now.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		Safety:      recovery.SafetyReadOnly,
		For:         m.playsDemo,
		Run:         getWeather,
	}}
}

func getWeather(ctx context.Context, call runner.ToolCall) (string, error) {
	var args struct {
		City string `json:"city"`
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return "", fmt.Errorf("the arguments are not {\"city\": …}: %w", err)
	}
	if err := journal("began " + call.ID); err != nil {
		return "", err
	}
	delay, _ := time.ParseDuration(os.Getenv(ToolDelayEnv))
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	return fmt.Sprintf("%s: 14 °C, clear, light wind", args.City), journal("ended " + call.ID)
}

// journal appends a line to the journal, if there is one.
func journal(line string) error {
	path := os.Getenv(ToolJournalEnv)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Offered are the tools that a run gets: all of them, or those with the names. "none" removes
// those before it.
func (srv *Server) Offered(names []string, m *Models) ([]runner.Tool, error) {
	if len(names) == 0 {
		return srv.Tools(m)
	}
	var chosen []config.Tool
	var demo []runner.Tool
	for _, name := range names {
		if name == config.NoTool {
			chosen, demo = nil, nil
		}
		if name == config.NoTool || srv.Config.IsMCP(name) || contains(demo, name) || slices.ContainsFunc(chosen, config.ToolNamed(name)) {
			continue
		}
		if at := slices.IndexFunc(srv.Config.Tools, config.ToolNamed(name)); at >= 0 {
			chosen = append(chosen[:len(chosen):len(chosen)], srv.Config.Tools[at])
		} else if i := slices.IndexFunc(DemoTools(m), func(t runner.Tool) bool { return t.Name == name }); i >= 0 {
			demo = append(demo, DemoTools(m)[i])
		} else {
			return nil, exit.Usagef("there is no tool %q; there are: %s", name, srv.Config.ToolNames())
		}
	}
	configured, err := makeTools(chosen, srv.Config.MachineHas())
	return append(configured, demo...), err
}

// CheckFor refuses a tool that was asked for by name but that the model does not get.
func CheckFor(model string, names []string, tools []runner.Tool) error {
	for _, t := range tools {
		if t.For != nil && !t.For(model) && slices.Contains(names, t.Name) {
			return exit.Usagef("the tool %q is the demo's and made up: %s is not given it", t.Name, model)
		}
	}
	return nil
}

// Tools are all tools that a run may have been given: the configured ones, and the demo's
// unless their names are taken.
func (srv *Server) Tools(m *Models) ([]runner.Tool, error) {
	all, err := makeTools(srv.Config.Tools, srv.Config.MachineHas())
	for _, t := range DemoTools(m) {
		if !contains(all, t.Name) {
			all = append(all, t)
		}
	}
	return all, err
}

// makeTools makes tools from checked entries, for a machine with the labels has. The error names a
// program that is missing.
func makeTools(entries []config.Tool, has recovery.Labels) ([]runner.Tool, error) {
	var all []runner.Tool
	for _, t := range entries {
		schema, err := t.SchemaJSON()
		if err != nil {
			return nil, exit.Usage(err)
		}
		if !has.Has(t.Needs) {
			all = append(all, elsewhere(t, schema))
			continue
		}
		timeout, grace := t.Spans()
		made, err := command.Tool(command.Spec{
			Name: t.Name, Description: t.Description, Schema: schema, Command: t.Command, Dir: t.Dir, Env: t.Env,
			Safety: config.Safeties[t.Safety], Timeout: timeout.Duration(), Grace: grace.Duration(), MaxOutput: t.MaxOutput,
		})
		if err != nil {
			return nil, exit.Usage(err)
		}
		made.Needs, made.Approval = t.Needs, t.Approval
		all = append(all, made)
	}
	return all, nil
}

// elsewhere is a tool that this machine cannot run: runs that have it are driven by other
// machines.
func elsewhere(t config.Tool, schema json.RawMessage) runner.Tool {
	timeout, _ := t.Spans()
	return runner.Tool{
		Name: t.Name, Description: t.Description, Schema: schema, Safety: config.Safeties[t.Safety], Timeout: timeout.Duration(), Needs: t.Needs, Approval: t.Approval,
		Run: func(context.Context, runner.ToolCall) (string, error) {
			return "", fmt.Errorf("the tool %s needs %s, which this machine does not have: let a machine that has it drive the run", t.Name, t.Needs)
		},
	}
}

func contains(tools []runner.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t runner.Tool) bool { return t.Name == name })
}
