package openai

import (
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// stopReasons are the finish reasons of an answer that ended well, in lower case: OpenAI's own, and
// those that imitators pass on from other models.
var stopReasons = map[string]llm.StopReason{
	"stop": llm.StopEnd, "end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd,
	"eos": llm.StopEnd, "eos_token": llm.StopEnd, "complete": llm.StopEnd, "completed": llm.StopEnd,
	"end": llm.StopEnd, "ended": llm.StopEnd, "done": llm.StopEnd, "finish": llm.StopEnd, "finished": llm.StopEnd, "eot": llm.StopEnd,
	"tool_calls": llm.StopToolUse, "function_call": llm.StopToolUse, "tool_use": llm.StopToolUse,
	"length": llm.StopLength, "max_tokens": llm.StopLength, "model_length": llm.StopLength,
	"content_filter": llm.StopFiltered, "safety": llm.StopFiltered, "refusal": llm.StopFiltered,
	"sensitive": llm.StopFiltered, // z.ai
}

// failures are finish reasons with a kind that the classifier cannot tell from their names.
var failures = map[string]failure.Kind{
	"insufficient_system_resource": failure.KindOverloaded, // DeepSeek
	"abort":                        failure.KindStreamInterrupted,
	"aborted":                      failure.KindStreamInterrupted,
	"cancelled":                    failure.KindStreamInterrupted,
}

// brokenOff and failed are parts of unknown finish reasons that are not a proper end: brokenOff for
// an answer that was broken off, failed for a failure that the classifier has to read.
var (
	brokenOff = []string{"abort", "cancel", "interrupt", "incomplete", "partial", "cut", "gave", "give", "disconnect", "reset", "lost", "early", "premature"}
	failed    = []string{
		"error", "fail", "timeout", "timed", "unavail", "load", "limit", "exceed", "crash", "kill", "exhaust", "insufficient", "invalid",
		"malformed", "unknown", "block", "filter", "reject", "denied", "refus", "network", "truncat", "length", "quota", "safe", "violat", "bad", "no_",
	}
)

// ending reports whether a finish reason is known, and gives its error; nil for a proper end. A
// reason that is neither known nor sounds like a failure counts as an end only if [DONE] follows:
// an answer that was broken off must never pass for a whole one.
func ending(finish string, chunk []byte) (known bool, err error) {
	reason := strings.ToLower(finish)
	if _, well := stopReasons[reason]; well || reason == "" {
		return true, nil
	}
	sounds := func(like string) bool { return strings.Contains(reason, like) }
	kind, broken := failures[reason]
	switch {
	case broken:
	case slices.ContainsFunc(failed, sounds):
	case slices.ContainsFunc(brokenOff, sounds):
		kind = failure.KindStreamInterrupted
	default:
		return false, nil
	}
	return false, &wire.ReportedError{Body: chunk, Kind: kind}
}
