// Package mcpserver is the door for clients of the Model Context Protocol: it offers runs as one
// tool, "run".
//
// What happens to the run is the call's progress, line by line. Where it fails and something can
// be done about it, the client is asked which button it shall be (elicitation, one of them by
// oneOf); a client without that gets a result that is an error, with the suggestion in
// _meta.recoverySuggestion. A call that its client cancels ends its run.
//
//	err := mcpserver.Serve(ctx, runs, version, mcpserver.Stdio())
//
// It holds no policy: the run's limits count answers of machines as those of people.
package mcpserver
