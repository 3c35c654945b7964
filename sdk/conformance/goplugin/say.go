package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// say renders the field of an event.
func say(e plugin.Event, name string) (string, error) {
	value, err := field(e, name)
	if err != nil {
		return "", err
	}
	return render(value), nil
}

func count(e plugin.Event, name string) (int, error) {
	value, err := field(e, name)
	list, ok := value.([]string)
	if err == nil && !ok {
		err = fmt.Errorf("%s is not a list", name)
	}
	return len(list), err
}

func field(e plugin.Event, name string) (any, error) {
	fields := eventFields(e)
	value, ok := fields[name]
	if !ok {
		return nil, fmt.Errorf("no field %q", name)
	}
	return value, nil
}

func eventFields(e plugin.Event) map[string]any {
	fields := map[string]any{
		"run": e.Run, "session": e.Session, "kind": string(e.Kind), "model": e.Model, "alternatives": e.Alternatives,
		"retry_after": e.RetryAfter, "attempt": e.Attempt, "retries": e.Retries, "max_retries": e.MaxRetries,
		"auto_recover": e.AutoRecover, "elapsed": e.Elapsed, "remaining_tokens": e.Remaining.Tokens,
		"remaining_microdollars": e.Remaining.Microdollars, "remaining_attempts": e.RemainingAttempts,
		"remaining_time": e.RemainingTime, "tried": tried(e.Tried), "models": models(e.Models),
		"replay_safety": e.ReplaySafety, "unsafe_tools": e.UnsafeTools, "partial_shown": e.PartialShown,
		"idle_breaker": e.IdleBreaker, "idle_expiries": e.IdleExpiries, "transcript": said(e.Transcript),
		"time": e.Time, "dry_run": e.DryRun, "pressed": e.Pressed,
		"session_key": e.SessionKey, "agent_id": e.AgentID, "aborted": e.Aborted, "timed_out": e.TimedOut, "prompt_error": e.PromptError,
		"labels": labels(e.Labels), "spent_tokens": e.Spent.Tokens, "spent_microdollars": e.Spent.Microdollars, "input_tokens": e.InputTokens,
		"tools": e.Tools, "images": e.Images, "schema": e.Schema, "about": model(e.About), "cooling": models(e.Cooling),
		"failed_kinds": kinds(e.FailedKinds), "recent_calls": recentCalls(e.RecentCalls),
	}
	failure := failureFields(e.Failure)
	for _, short := range []string{"code", "provider", "retryable", "resets_at"} {
		fields[short] = failure[short]
	}
	for name, value := range failure {
		fields["failure."+name] = value
	}
	return fields
}

func said(transcript []llm.Message) []string {
	var texts []string
	for _, m := range transcript {
		texts = append(texts, m.Text())
	}
	return texts
}

func failureFields(f failure.Failure) map[string]any {
	return map[string]any{
		"kind": string(f.Kind), "code": string(f.Code), "variant": f.Variant, "origin": string(f.Origin),
		"phase": string(f.Phase), "retryable": f.Retryable, "provider": f.Provider, "model": f.Model,
		"http_status": f.HTTPStatus, "provider_code": f.ProviderCode, "request_id": f.RequestID, "tool": f.Tool,
		"retry_after": f.RetryAfter.Duration(), "resets_at": f.ResetsAt, "timer": string(f.Timer),
		"limit": f.Limit.Duration(), "elapsed": f.Elapsed.Duration(), "last_step": f.LastStep,
		"last_step_elapsed": f.LastStepElapsed.Duration(),
		"title":             f.Title, "message": f.Message, "detail": f.Detail,
	}
}

func tried(all []recovery.Tried) []string {
	var list []string
	for _, t := range all {
		list = append(list, strings.Join([]string{
			render(t.Attempt), t.Model, string(t.Code), render(t.At), render(t.Millis.Duration()),
		}, " "))
	}
	return list
}

func models(all []recovery.Alternative) []string {
	var list []string
	for _, a := range all {
		list = append(list, model(a))
	}
	return list
}

func model(a recovery.Alternative) string {
	if a.Model == "" {
		return ""
	}
	text := a.Model + " " + render(a.ContextTokens)
	if a.Price != nil {
		text += " " + render(a.Price.Input) + "/" + render(a.Price.Output)
	}
	if a.Local {
		text += " local"
	}
	for _, fact := range [][2]string{
		{"lacks", strings.Join(a.Lacks, "+")},
		{"cools_until", render(a.CoolsUntil)},
		{"cooling_kind", string(a.CoolingKind)},
		{"health", a.Health},
	} {
		if fact[1] != "" {
			text += " " + fact[0] + "=" + fact[1]
		}
	}
	return text
}

func labels(all map[string]string) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, key+"="+all[key])
	}
	return list
}

func kinds(all []failure.Kind) []string {
	var list []string
	for _, kind := range all {
		list = append(list, string(kind))
	}
	return list
}

func recentCalls(all []recovery.RecentCall) []string {
	var list []string
	for _, c := range all {
		list = append(list, strings.Join([]string{c.Model, string(c.Kind), render(c.At)}, " "))
	}
	return list
}

func render(value any) string {
	switch v := value.(type) {
	case []string:
		return strings.Join(v, ",")
	case time.Duration:
		return strconv.FormatFloat(float64(v.Milliseconds())/1000, 'f', -1, 64)
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.UTC().Format("2006-01-02T15:04:05.999Z")
	}
	return fmt.Sprint(value)
}
