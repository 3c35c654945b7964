package openai

import (
	"net/url"
	"strings"

	"github.com/mulligan-run/mulligan/provider/internal/endpoint"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/openai"
)

// DefaultBaseURL is OpenAI's own.
const DefaultBaseURL = "https://api.openai.com/v1"

// Config says where and how to ask; the base URL includes its version.
type Config = endpoint.Config

// Model is the API as an llm.Model. It is safe for concurrent use.
type Model = endpoint.Model

// New makes a Model. By default it is called "openai" and uses the key in OPENAI_API_KEY. The
// error says what is wrong with the configuration.
func New(cfg Config) (*Model, error) {
	known := &habits{}
	return endpoint.New(cfg, endpoint.Wire{
		Name: "openai", BaseURL: DefaultBaseURL, KeyEnv: "OPENAI_API_KEY",
		Path: func(_, _ string, _ bool) string { return "/chat/completions" }, Other: endpoint.Unversioned, Own: isOpenAI,
		Header: endpoint.Bearer, Encode: openai.Encode, Decoder: func() wire.Decoder { return openai.NewDecoder(known) },
	})
}

// NewDecoder reads the chunks of one answer, from a server that nothing is known about.
func NewDecoder() wire.Decoder { return openai.NewDecoder(&habits{}) }

// isOpenAI reports whether base is OpenAI's own service, or Azure's version of it.
func isOpenAI(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := "." + strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}
