package llm

import "context"

// Engine is a Model that is an agent by itself: it keeps the conversation of a
// Request's Session, and runs tools of its own without being told to.
//
// One turn of an Engine is told as any other model's rounds. Stream yields one
// message of its model; what calls of tools that message ends with, the engine is
// carrying out already, and Result waits for what came of each. When all of them
// have results, Stream is called again and goes on to the next message of the same
// turn. Where there is no turn to go on with, because the process is another one or
// the turn failed, Stream goes on from what the engine knows of the session and says
// to it what is missing of Messages. Tools, Adjust and the length of Messages are the
// engine's own affair: Request.Tools are not offered to it.
//
// What follows from its tools being its own, and is so for no other model: a call has
// begun when its intent is written, an engine may repeat what it likes, and a call
// whose result is lost is unknown, whatever a tool of the same name is declared to be.
// Limits of time, money and number of rounds hold as for any model: a turn that
// nobody asks about any more is ended by Release.
type Engine interface {
	Model

	// Result waits until the engine's tool call, which is in the last message that Stream yielded
	// for the session, is over; said gets, for people, what the tool reports meanwhile. An error
	// means that it is unknown whether the call took effect. Result returns soon after ctx is
	// cancelled, which also stops the tool.
	Result(ctx context.Context, session string, call ToolCall, said func(text string)) (ToolResult, error)

	// Release ends everything that the engine does for the session, tools included, within 2 s;
	// what it knows of the conversation is kept. If there is nothing to end it returns at once.
	Release(session string)
}
