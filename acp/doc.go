// Package acp is the door for clients of the Agent Client Protocol, version 1: editors, and programs
// that drive agents over stdin and stdout.
//
// A session of the protocol is a conversation of the timeline, so that every other client sees the
// same; a prompt is a run of it, followed until it has ended (prompt.go). What happens to it is told
// as the client's own kinds of updates (turn.go, recovering.go): text, tool calls, usage, and a tool call or a
// notice for a recovery that is under way. Text cannot be retracted in this protocol: a line says
// that what stands above it does not count.
//
// A suggestion is asked about in the best way that the client has (ask.go): a form, else a
// permission, else a text whose answer is a number. Forms and permissions may be answered by
// programs, and an answer grants another attempt; so they are asked only as long as the model call
// has attempts left without those, and then it is text, which only a person answers.
//
//	err := acp.Serve(ctx, acp.Config{Runs: runs, Log: log, Models: models}, os.Stdout, os.Stdin)
//
// It holds no policy besides that.
package acp
