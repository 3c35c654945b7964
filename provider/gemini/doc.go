// Package gemini speaks Google's Gemini API
// (POST /v1beta/models/{model}:streamGenerateContent, streaming).
//
//	model, err := gemini.New(gemini.Config{
//		Name: "gemini",
//		Key:  func() (string, error) { return os.Getenv("GEMINI_API_KEY"), nil },
//	})
//
// The key travels in a header, never in the URL.
//
// How it is spoken is wire/gemini; this package is whom to ask, and with which key.
// Failures are failure.Failure values; nothing is sent twice.
package gemini
