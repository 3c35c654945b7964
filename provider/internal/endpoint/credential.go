package endpoint

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/internal/redact"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// credentials are the headers in which APIs accept a credential.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// authorize adds a credential to a request's headers: the caller's own if it is for this entry,
// otherwise the entry's key. It returns the values that are secret from then on.
func (m *Model) authorize(h http.Header, model string, own *llm.Credential) (*redact.Known, error) {
	if own == nil || own.Provider != m.cfg.Name {
		key, err := observe.Key{Get: m.cfg.Key, Env: m.cfg.KeyEnv, Required: m.cfg.KeyNeeded}.For(m.client, model)
		if err != nil {
			return nil, err
		}
		m.cfg.Known.Add(key)
		m.wire.Header(h, key)
		return m.cfg.Known, nil
	}
	m.wire.Header(h, "")
	var secret []string
	for name, values := range own.Header {
		if name = http.CanonicalHeaderKey(name); slices.Contains(credentials, name) {
			h[name] = slices.Clone(values)
			for _, value := range values {
				secret = append(secret, strings.Fields(value)...)
			}
		}
	}
	return m.cfg.Known.With(secret...), nil
}
