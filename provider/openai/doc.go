// Package openai speaks the Chat Completions API (POST /chat/completions, streaming),
// OpenAI's own and that of the many servers that imitate it.
//
//	model, err := openai.New(openai.Config{
//		Name:    "local",
//		BaseURL: "http://127.0.0.1:11434/v1",
//	})
//
// How it is spoken is wire/openai; this package is whom to ask, and with which key.
// Failures are failure.Failure values; nothing is sent twice.
package openai
