// Package wire is how the four wires are spoken, each once: what is said to a model as
// bytes, and the bytes of its answer as what was heard.
//
//	anthropic/   the Messages API
//	openai/      Chat Completions, OpenAI's and of all who speak like it
//	responses/   OpenAI's Responses API
//	gemini/      generateContent of the Gemini API
//
// Nothing here opens a connection, reads a clock or throws dice. An adapter in provider
// puts the request that Encode writes into an HTTP call, and hands each event of the
// answer to a [Decoder]; what it hears about the connection is its own affair.
//
// A request is read from the other end, too: each wire's Decode makes of a stranger's body an
// [Asked], which is what Encode is told, and in words for people what no other wire could be.
//
// An answer is spoken from both ends: an [Encoder] writes deltas as the frames of which a
// Decoder makes them again. The fault server speaks so, and whoever stands between a
// caller and its provider.
//
//	decoder.go   an answer's events as deltas
//	broken.go    what is wrong with an answer that breaks its wire's rules
//	encoder.go   deltas as an answer's frames; the Voice of each wire is in its own folder
//	frame.go     how a frame and JSON are written
//	report.go    an error as a provider tells it, and the status that says as much as a kind
//	asked.go     a request as a caller wrote it, and what is wrong with one
//	native.go    the model's name in a body that is passed on as it is
//	request.go   what all requests have in common: a tool's schema and its result, pictures, JSON
package wire
