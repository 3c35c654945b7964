package responses

import (
	"github.com/mulligan-run/mulligan/provider/internal/endpoint"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/responses"
)

// DefaultBaseURL is OpenAI's own.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says where and how to ask; the base URL includes its version.
type Config = endpoint.Config

// Model is the API as an llm.Model. It is safe for concurrent use.
type Model = endpoint.Model

// New makes a Model. By default it is called "openai-responses" and uses the key in
// OPENAI_API_KEY. The error says what is wrong with the configuration.
func New(cfg Config) (*Model, error) {
	return endpoint.New(cfg, endpoint.Wire{
		Name: "openai-responses", BaseURL: DefaultBaseURL, KeyEnv: "OPENAI_API_KEY",
		Path: func(_, _ string, _ bool) string { return "/responses" }, Other: endpoint.Unversioned,
		Header: endpoint.Bearer, Encode: responses.Encode,
		Decoder: NewDecoder,
	})
}

// NewDecoder reads the answer to one request.
func NewDecoder() wire.Decoder { return responses.NewDecoder(observe.NewCallID) }
