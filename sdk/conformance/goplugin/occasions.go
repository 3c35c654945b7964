package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// judge does what the label "do" of a call says.
func judge(_ context.Context, c plugin.Call) (plugin.Verdict, error) {
	verb, rest, _ := strings.Cut(c.Labels["do"], " ")
	switch verb {
	case "":
		return plugin.Verdict{}, nil
	case "allow":
		return plugin.Allow, nil
	case "route":
		return plugin.Route(rest, "told so"), nil
	case "hold":
		seconds, err := strconv.Atoi(rest)
		return plugin.Hold(c.Time.Add(time.Duration(seconds)*time.Second), "told so"), err
	case "refuse":
		return plugin.Refuse(rest), nil
	case "say":
		value, ok := callFields(c)[rest]
		if !ok {
			return plugin.Verdict{}, fmt.Errorf("no field %q", rest)
		}
		return plugin.Refuse(render(value)), nil
	}
	return plugin.Verdict{}, errors.New(rest)
}

func callFields(c plugin.Call) map[string]any {
	return map[string]any{
		"run": c.Run, "session": c.Session, "session_key": c.SessionKey, "agent_id": c.AgentID, "model": c.Model, "alternatives": c.Alternatives,
		"models": models(c.Models), "round": c.Round, "attempt": c.Attempt, "tried": tried(c.Tried), "summary": c.Summary, "input_tokens": c.InputTokens,
		"tools": c.Tools, "images": c.Images, "holds": c.Holds, "auto_recover": c.AutoRecover, "spent_tokens": c.Spent.Tokens,
		"spent_microdollars": c.Spent.Microdollars, "labels": labels(c.Labels), "schema": c.Schema, "about": model(c.About),
		"failed_kinds": kinds(c.FailedKinds), "recent_calls": recentCalls(c.RecentCalls),
		"remaining_tokens": c.Remaining.Tokens, "remaining_microdollars": c.Remaining.Microdollars, "elapsed": c.Elapsed,
		"remaining_time": c.RemainingTime, "time": c.Time, "dry_run": c.DryRun,
	}
}

// adviseTool does what the label "do" of a tool that failed says.
func adviseTool(_ context.Context, e plugin.ToolError) (plugin.ToolAdvice, error) {
	verb, rest, _ := strings.Cut(e.Labels["do"], " ")
	switch verb {
	case "":
		return plugin.ToolAdvice{}, nil
	case "again":
		seconds, err := strconv.ParseFloat(rest, 64)
		return plugin.RunAgain(time.Duration(seconds*float64(time.Second)), "told so"), err
	case "tell":
		return plugin.Tell(rest, "told so"), nil
	case "ask":
		return plugin.Ask(rest), nil
	case "say":
		value, ok := toolFields(e)[rest]
		if !ok {
			return plugin.ToolAdvice{}, fmt.Errorf("no field %q", rest)
		}
		return plugin.Ask(render(value)), nil
	}
	return plugin.ToolAdvice{}, errors.New(rest)
}

func toolFields(e plugin.ToolError) map[string]any {
	return map[string]any{
		"run": e.Run, "session": e.Session, "session_key": e.SessionKey, "agent_id": e.AgentID, "tool": e.Tool, "call_id": e.CallID,
		"safety": string(e.Safety), "tries": e.Tries, "remaining_tries": e.RemainingTries, "failures": e.Failures, "timed_out": e.TimedOut,
		"took": e.Took, "error": e.Error, "model": e.Model, "round": e.Round, "auto_recover": e.AutoRecover, "spent_tokens": e.Spent.Tokens,
		"remaining_tokens": e.Remaining.Tokens, "remaining_microdollars": e.Remaining.Microdollars, "elapsed": e.Elapsed,
		"remaining_time": e.RemainingTime, "time": e.Time, "dry_run": e.DryRun,
	}
}

// hear does what the label "do" of a run says that has ended.
func hear(_ context.Context, e plugin.Ended) error {
	verb, rest, _ := strings.Cut(e.Labels["do"], " ")
	switch verb {
	case "":
		return nil
	case "say":
		value, ok := endFields(e)[rest]
		if !ok {
			return fmt.Errorf("no field %q", rest)
		}
		return fmt.Errorf("<%s>", render(value))
	}
	return errors.New(rest)
}

func endFields(e plugin.Ended) map[string]any {
	return map[string]any{
		"run": e.Run, "status": e.Status, "stop_reason": e.StopReason, "chosen_model": e.ChosenModel, "model": e.Model, "recovered": e.Recovered,
		"attempts": e.Attempts, "failed_attempts": e.FailedAttempts, "kinds": kinds(e.Kinds), "switches": e.Switches, "recovery_time": e.RecoveryTime,
		"wasted_tokens": e.Wasted.Tokens, "wasted_microdollars": e.Wasted.Microdollars, "spent_tokens": e.Spent.Tokens, "elapsed": e.Elapsed,
		"time": e.Time, "agent_id": e.AgentID,
	}
}
