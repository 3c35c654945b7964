// Package anthropic speaks the Anthropic Messages API (POST /v1/messages, streaming).
//
//	model, err := anthropic.New(anthropic.Config{
//		Name: "anthropic",
//		Key:  func() (string, error) { return os.Getenv("ANTHROPIC_API_KEY"), nil },
//	})
//
// How it is spoken is wire/anthropic; this package is whom to ask, and with which key.
// Failures are failure.Failure values; nothing is sent twice.
package anthropic
