package llm

import "context"

// Engine is a Model that is an agent by itself: it keeps the conversation of a Request's Session,
// and runs tools of its own without being told to.
//
// One turn of an Engine looks like the rounds of any other model. Stream yields one message of its
// model. If that message ends with tool calls, the engine is already running them, and Result waits
// for the result of each. When all of them have results, Stream is called again and continues with
// the next message of the same turn. If there is no turn to continue, because the process is a new
// one or the turn failed, Stream continues from what the engine knows of the session and gives it
// the Messages that it lacks. Tools, Adjust and the length of Messages are the engine's own
// business: Request.Tools are not offered to it.
//
// Because its tools are its own, some things hold for an Engine and for no other model: a call has
// begun when its intent is written; an engine may repeat what it likes; and a call whose result is
// lost has an unknown outcome, whatever a tool of the same name is declared to be. Limits of time,
// money and number of rounds hold as for any model: Release ends a turn that nobody waits for any
// more.
type Engine interface {
	Model

	// Result waits until the engine's tool call, which is in the last message that Stream yielded
	// for the session, is over. said is called with what the tool reports meanwhile, for people. An
	// error means that it is unknown whether the call took effect. Result returns soon after ctx is
	// cancelled, which also stops the tool.
	Result(ctx context.Context, session string, call ToolCall, said func(text string)) (ToolResult, error)

	// Release ends everything that the engine does for the session, tools included, within 2 s.
	// What the engine knows of the conversation is kept. If there is nothing to end it returns
	// immediately.
	Release(session string)
}
