package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// Environment of the demo's tool, so that a test can stop the program in the
// middle of a call and see afterwards what ran.
const (
	toolDelayEnv   = "MULLIGAN_DEMO_TOOL_DELAY"   // how long a call takes, for example 2s
	toolJournalEnv = "MULLIGAN_DEMO_TOOL_JOURNAL" // a file that gets a line when a call begins and one when it ends
)

// demoTools are the tools that this program has: the weather of the demo, which is
// always the same, and which no other model is given. It changes nothing, so a call whose
// end was lost may be repeated.
func demoTools(m *models) []runner.Tool {
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
	delay, _ := time.ParseDuration(os.Getenv(toolDelayEnv))
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	return fmt.Sprintf("%s: 14 °C, clear, light wind", args.City), journal("ended " + call.ID)
}

// journal appends a line to the journal, if there is one.
func journal(line string) error {
	path := os.Getenv(toolJournalEnv)
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

// noTool as a --tool leaves all tools out.
const noTool = "none"

// offered are the tools that a run gets: all of them, or those of the names. "none" removes
// those before it.
func (a *app) offered(names []string, m *models) ([]runner.Tool, error) {
	if len(names) == 0 {
		return a.tools(m)
	}
	var chosen []toolEntry
	var demo []runner.Tool
	for _, name := range names {
		if name == noTool {
			chosen, demo = nil, nil
		}
		if name == noTool || a.config.isMCP(name) || contains(demo, name) || slices.ContainsFunc(chosen, named(name)) {
			continue
		}
		if at := slices.IndexFunc(a.config.Tools, named(name)); at >= 0 {
			chosen = append(chosen[:len(chosen):len(chosen)], a.config.Tools[at])
		} else if i := slices.IndexFunc(demoTools(m), func(t runner.Tool) bool { return t.Name == name }); i >= 0 {
			demo = append(demo, demoTools(m)[i])
		} else {
			return nil, usagef("there is no tool %q; there are: %s", name, a.config.toolNames())
		}
	}
	configured, err := makeTools(chosen)
	return append(configured, demo...), err
}

// checkFor finds a tool that was asked for by its name, and that the model is not given.
func checkFor(model string, names []string, tools []runner.Tool) error {
	for _, t := range tools {
		if t.For != nil && !t.For(model) && slices.Contains(names, t.Name) {
			return usagef("the tool %q is the demo's and made up: %s is not given it", t.Name, model)
		}
	}
	return nil
}

// tools are all that a run may have been given: those that are configured, and the
// demo's where they have a name that is free.
func (a *app) tools(m *models) ([]runner.Tool, error) {
	all, err := makeTools(a.config.Tools)
	for _, t := range demoTools(m) {
		if !contains(all, t.Name) {
			all = append(all, t)
		}
	}
	return all, err
}

func contains(tools []runner.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t runner.Tool) bool { return t.Name == name })
}
