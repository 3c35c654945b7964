package recovery

import (
	"strconv"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// Effect is something that should be going on now. Two effects with the same key are the same one,
// so a shell can compare what should be going on with what is.
type Effect struct {
	Key string
	// Exactly one of these is set.
	Record Body // write this event now; nothing else of the set matters until it is applied
	Call   *CallModel
	Tool   *RunTool
	Ask    *AskPlugins
	Timer  *SetTimer
	Watch  *WatchNetwork

	Summarise *Summarise
}

// CallModel is a streamed model call under the policy's timers. The shell writes Intent before it
// starts, and Answered or Failed when it has ended.
type CallModel struct {
	Intent  Began
	Doubled failure.Timer // the timer whose limit a person doubled for this attempt
	// InAir: the intent is durable and the call runs in this process.
	InAir bool
}

// RunTool is one tool call. The shell writes Intent before it starts.
type RunTool struct {
	Call   llm.ToolCall
	Intent ToolBegan
	InAir  bool
}

// AskPlugins asks the plugins that have not voted on the occasion yet.
type AskPlugins struct {
	Occasion Occasion
	Plugins  []string
	Call     *Began // for HookBeforeCall: the call as it would begin; a summary has no Attempt
}

// SetTimer writes an event at a given time: a Due, a Noted for people, or the ToolReturned of a
// call that the run's caller did not answer.
type SetTimer struct {
	At    time.Time
	Write Body
}

// WatchNetwork writes Due as soon as one of the models can be reached again.
type WatchNetwork struct {
	Models []string
	Due    Due
}

func callKey(attempt uint64) string { return "call/" + strconv.FormatUint(attempt, 10) }

func record(r *Run, b Body) []Effect {
	return []Effect{{Key: "record/" + strconv.FormatUint(r.Seq+1, 10), Record: r.worded(b)}}
}

func timer(at time.Time, due Due) Effect {
	t := SetTimer{At: at, Write: due}
	return Effect{Key: timerKey(t), Timer: &t}
}

func timerKey(t SetTimer) string {
	at := strconv.FormatInt(t.At.UnixMilli(), 10)
	if b, ok := t.Write.(ToolReturned); ok {
		return "timer/tool/" + b.CallID + "/" + at
	}
	due, ok := t.Write.(Due)
	if !ok {
		return "timer/" + t.Write.eventType() + "/" + at
	}
	return "timer/" + string(due.Timer) + "/" + strconv.FormatUint(due.Failure, 10) + "/" + at
}
