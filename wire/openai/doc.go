// Package openai is the Chat Completions API (POST /chat/completions, streaming),
// OpenAI's own and that of the many servers that imitate it: its requests as bytes, and the bytes of its answers as what was heard.
//
// # Out
//
// request.go writes an llm.Request as the wire's JSON: a system message, function
// tools, tool calls and tool messages, pictures as data URLs. What another model
// said is made fit before (llm/handover); reasoning is not sent back.
//
// # Back
//
// stream.go reads the chunks. An answer is whole when a finish_reason was seen;
// then the usage is waited for, shortly. Tool calls come in pieces by index;
// servers that leave out or repeat indexes and ids are understood where they can be.
//
// # From the other end
//
// asked.go and asked_message.go read a request: the conversation as Encode is told it, and
// what of it no other wire can say. voice.go writes an answer, streamed or as one document,
// and an error, which report.go makes of a kind of failure, for the Responses API too.
package openai
