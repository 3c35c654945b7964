package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
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
// always the same. It changes nothing, so a call whose end was lost may be repeated.
func demoTools() []runner.Tool {
	return []runner.Tool{{
		Name:        "get_weather",
		Description: "The weather in a city, now.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		Safety:      recovery.SafetyReadOnly,
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

// findTools picks tools by name.
func findTools(names []string) ([]runner.Tool, error) {
	var picked []runner.Tool
	for _, name := range names {
		found := false
		for _, t := range demoTools() {
			if t.Name == name {
				picked, found = append(picked, t), true
			}
		}
		if !found {
			return nil, usagef("there is no tool %q; there is: get_weather, the demo's", name)
		}
	}
	return picked, nil
}
