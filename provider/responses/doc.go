// Package responses speaks OpenAI's Responses API (POST /responses, streaming).
//
//	model, err := responses.New(responses.Config{
//		Key: func() (string, error) { return os.Getenv("OPENAI_API_KEY"), nil },
//	})
//
// How it is spoken is wire/responses; this package is whom to ask, and with which key.
// Failures are failure.Failure values; nothing is sent twice.
package responses
