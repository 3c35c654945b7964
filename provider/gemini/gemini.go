package gemini

import (
	"net/http"
	"net/url"

	"github.com/mulligan-run/mulligan/provider/internal/endpoint"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/gemini"
)

// DefaultBaseURL is Google's own.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Config says where and how to ask; the base URL may leave out /v1beta.
type Config = endpoint.Config

// Model is the API as an llm.Model. It is safe for concurrent use.
type Model = endpoint.Model

// New makes a Model. By default it is called "gemini" and uses the key in GEMINI_API_KEY. The
// error says what is wrong with the configuration.
func New(cfg Config) (*Model, error) {
	return endpoint.New(cfg, endpoint.Wire{
		Name: "gemini", BaseURL: DefaultBaseURL, KeyEnv: "GEMINI_API_KEY",
		Path: path, Other: endpoint.Versioned("/v1beta"), InPath: true, Header: header, Encode: gemini.Encode,
		Decoder: NewDecoder,
	})
}

func path(base, model string, stream bool) string {
	path := observe.Path(base, "/v1beta", "/models/") + url.PathEscape(model)
	if stream {
		return path + ":streamGenerateContent?alt=sse"
	}
	return path + ":generateContent"
}

// header sends the key in a header: in the URL it would be logged.
func header(h http.Header, key string) {
	if key != "" {
		h.Set("X-Goog-Api-Key", key)
	}
}

// NewDecoder reads the answer to one request.
func NewDecoder() wire.Decoder { return gemini.NewDecoder(observe.NewCallID) }
