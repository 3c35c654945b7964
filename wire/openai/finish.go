package openai

import (
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// stopReasons are the finish reasons that end an answer well, in lower case:
// OpenAI's own, and what imitators pass on of the models behind them.
var stopReasons = map[string]llm.StopReason{
	"stop": llm.StopEnd, "end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd,
	"eos": llm.StopEnd, "eos_token": llm.StopEnd, "complete": llm.StopEnd, "completed": llm.StopEnd,
	"end": llm.StopEnd, "ended": llm.StopEnd, "done": llm.StopEnd, "finish": llm.StopEnd, "finished": llm.StopEnd, "eot": llm.StopEnd,
	"tool_calls": llm.StopToolUse, "function_call": llm.StopToolUse, "tool_use": llm.StopToolUse,
	"length": llm.StopLength, "max_tokens": llm.StopLength, "model_length": llm.StopLength,
	"content_filter": llm.StopFiltered, "safety": llm.StopFiltered, "refusal": llm.StopFiltered,
	"sensitive": llm.StopFiltered, // z.ai
}

// failures are the other finish reasons whose kind the classifier does not find by
// their name.
var failures = map[string]failure.Kind{
	"insufficient_system_resource": failure.KindOverloaded, // DeepSeek
	"abort":                        failure.KindStreamInterrupted,
	"aborted":                      failure.KindStreamInterrupted,
	"cancelled":                    failure.KindStreamInterrupted,
}

// brokenOff and failed are what is in the names of reasons that nobody knows and that are no
// end: those of an answer that was broken off, and those that the classifier is to read.
var (
	brokenOff = []string{"abort", "cancel", "interrupt", "incomplete", "partial", "cut", "gave", "give", "disconnect", "reset", "lost", "early", "premature"}
	failed    = []string{
		"error", "fail", "timeout", "timed", "unavail", "load", "limit", "exceed", "crash", "kill", "exhaust", "insufficient", "invalid",
		"malformed", "unknown", "block", "filter", "reject", "denied", "refus", "network", "truncat", "length", "quota", "safe", "violat", "bad", "no_",
	}
)

// ending is the error that a finish reason stands for, and whether the reason is one that is
// known. One that is neither known nor sounds like a failure is an end where [DONE] follows: an
// answer that was broken off must never pass for a whole one.
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
