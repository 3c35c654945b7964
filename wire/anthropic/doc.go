// Package anthropic is the Anthropic Messages API (POST /v1/messages, streaming): its requests as bytes, and
// the bytes of its answers as what was heard.
//
// # Out
//
// request.go writes an llm.Request as the wire's JSON: system text, tools,
// tool_use and tool_result blocks, pictures, the model's own signed thinking. What
// another model said is made fit before (llm/handover), and messages
// of one role in a row become one.
//
// # Back
//
// stream.go reads the events. An answer is whole when message_stop was seen, and
// only then. Event and block types that are not known are skipped: the API says
// that there will be more of them.
//
// # From the other end
//
// asked.go and asked_message.go read a request: the conversation as Encode is told it, and
// what of it no other wire can say. voice.go writes an answer, streamed or as one document,
// and an error, which report.go makes of a kind of failure.
package anthropic
