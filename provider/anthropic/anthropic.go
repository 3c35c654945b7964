package anthropic

import (
	"net/http"

	"github.com/mulligan-run/mulligan/provider/internal/endpoint"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/anthropic"
)

const (
	// DefaultBaseURL is Anthropic's own.
	DefaultBaseURL = "https://api.anthropic.com"
	// apiVersion is the API version that this package was written for.
	apiVersion = "2023-06-01"
)

// Config says where and how to ask; the base URL may leave out /v1.
type Config = endpoint.Config

// Model is the API as an llm.Model. It is safe for concurrent use.
type Model = endpoint.Model

// New makes a Model. By default it is called "anthropic" and uses the key in ANTHROPIC_API_KEY.
// The error says what is wrong with the configuration.
func New(cfg Config) (*Model, error) {
	return endpoint.New(cfg, endpoint.Wire{
		Name: "anthropic", BaseURL: DefaultBaseURL, KeyEnv: "ANTHROPIC_API_KEY",
		Path: path, Other: endpoint.Versioned("/v1"), Header: header, Encode: anthropic.Encode, Decoder: NewDecoder,
	})
}

// NewDecoder reads the events of one answer.
func NewDecoder() wire.Decoder { return anthropic.NewDecoder() }

func path(base, _ string, _ bool) string { return observe.Path(base, "/v1", "/messages") }

func header(h http.Header, key string) {
	h.Set("Anthropic-Version", apiVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}
