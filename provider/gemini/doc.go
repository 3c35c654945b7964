// Package gemini speaks Google's Gemini API
// (POST /v1beta/models/{model}:streamGenerateContent, streaming).
//
//	model, err := gemini.New(gemini.Config{
//		Name: "gemini",
//		Key:  func() (string, error) { return os.Getenv("GEMINI_API_KEY"), nil },
//	})
//
// # Out
//
// request.go writes an llm.Request as the wire's JSON: a system instruction,
// function declarations, function calls and their responses, pictures. The key
// travels in a header, never in the URL. What another model said is made fit before
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
// Failures are failure.Failure values; nothing is sent twice.
package gemini
