// Package gemini is Google's Gemini API
// (POST /v1beta/models/{model}:streamGenerateContent, streaming): its requests as bytes, and
// the bytes of its answers as what was heard.
//
// # Out
//
// request.go writes an llm.Request as the wire's JSON: a system instruction,
// function declarations, function calls and their responses, pictures. What another model said is made fit before
// (llm/handover). The model's own thought signatures go back where they came from:
// that of a call in its llm.ToolCall, that of a text in an llm.Thinking without text
// behind it. Summaries of its thoughts are shown and never sent. models.go knows
// what a model takes by its name.
//
// # Back
//
// stream.go reads the chunks. An answer is whole when a finishReason was seen that
// says so; one that ends without is cut, also when it asked for a tool. A reason
// that says that there is no answer (a filter, a malformed call, whatever Google
// adds) is a failure, with the reason as its provider code.
//
// # From the other end
//
// asked.go and asked_content.go read a request: the conversation as Encode is told it, and
// what of it no other wire can say. names.go takes the names of members, and schemas,
// in both the forms that the API takes. voice.go writes an answer, streamed or as one
// document, and an error, which report.go makes of a kind of failure.
package gemini
