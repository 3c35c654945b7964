// Package mcp gives the tools of Model Context Protocol servers to runs.
//
// A [Spec] is a server as its configuration has it: a command that is started and
// spoken to over its standard input and output, or the URL of one that runs
// elsewhere. [Open] starts all of them side by side, and their tools are tools like
// any other:
//
//	set, err := mcp.Open(ctx, []mcp.Spec{{Name: "files", Command: []string{"mcp-server-files", "."}}}, logger)
//	…
//	defer set.Close()
//	r := runner.New(runner.WithModel(…), runner.WithToolsFrom(set.Tools))
//
// The protocol is the official SDK's. What this package adds is what happens when
// something breaks, which is never a reason to change the model:
//
//   - A server that ends, or hangs, is started again: restarts.go says when. Its tools
//     stay, and a call waits a moment for it (server.go).
//   - A call that was in the air then has an unknown outcome, unless the tool changes
//     nothing or may be repeated; the model is told the cause in either case (call.go).
//   - What a tool may do to the world is its server's own claim; the configuration has
//     the last word (safety.go).
//   - Everything that a server says is bounded and made harmless: its tools (offer.go),
//     their names (names.go), results (result.go), notes of progress (progress.go),
//     standard output (stdout.go) and standard error (stderr.go).
//
// A process has a process group of its own and little of the environment (process.go);
// a URL is https or on the loopback, and what is secret in its headers comes from the
// environment (http.go).
//
// [Set.Tools] is what servers offer at that moment. A run keeps what was offered when it
// began, so that a server that changes its list changes no run that is going on.
package mcp
