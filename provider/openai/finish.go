package openai

import (
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/recovery"
)

// stopReasons are the finish reasons that end an answer well, in lower case:
// OpenAI's own, and what imitators pass on of the models behind them.
var stopReasons = map[string]llm.StopReason{
	"stop": llm.StopEnd, "end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd,
	"eos": llm.StopEnd, "eos_token": llm.StopEnd, "complete": llm.StopEnd, "completed": llm.StopEnd,
	"tool_calls": llm.StopToolUse, "function_call": llm.StopToolUse, "tool_use": llm.StopToolUse,
	"length": llm.StopLength, "max_tokens": llm.StopLength, "model_length": llm.StopLength,
	"content_filter": llm.StopFiltered, "safety": llm.StopFiltered, "refusal": llm.StopFiltered,
	"sensitive": llm.StopFiltered, // z.ai
}

// failures are the other finish reasons whose kind the classifier does not find by
// their name.
var failures = map[string]recovery.Kind{
	"insufficient_system_resource": recovery.KindOverloaded, // DeepSeek
	"abort":                        recovery.KindStreamInterrupted,
	"aborted":                      recovery.KindStreamInterrupted,
	"cancelled":                    recovery.KindStreamInterrupted,
}

// ending is the error that a finish reason stands for. One that nobody knows is an
// error too: an answer that was broken off must never pass for a whole one.
func ending(finish string, chunk []byte) error {
	reason := strings.ToLower(finish)
	if _, well := stopReasons[reason]; well || reason == "" {
		return nil
	}
	return &observe.ReportedError{Body: chunk, Kind: failures[reason]}
}
