package endpoint

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// Forward sends a request to another path of the API than that of a model's call. It is sent as it
// is, except for the credential: own if it is for this entry, otherwise the entry's. Only the path
// and the query of the request's URL are used. The error is a failure.
func (m *Model) Forward(r *http.Request, own *llm.Credential) (*http.Response, error) {
	header := http.Header{}
	known, err := m.authorize(header, "", own)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(m.wire.Other(strings.TrimRight(m.cfg.BaseURL, "/ "), r.URL.EscapedPath()))
	if err != nil {
		return nil, observe.PromptFailure(m.cfg.Name, "", err)
	}
	at.RawQuery = withoutKeys(r.URL.RawQuery)
	out := (&http.Request{Method: r.Method, URL: at, Header: header, Body: r.Body, ContentLength: r.ContentLength}).WithContext(r.Context())
	addHeader(out.Header, r.Header)
	if packing := r.Header.Values("Content-Encoding"); len(packing) > 0 { // the body is passed on unread
		out.Header["Content-Encoding"] = packing
	}
	return m.client.Forward(out, observe.SecretsOf(known))
}

// Versioned is a Wire's Other for APIs whose version may be missing in a base URL.
func Versioned(version string) func(base, path string) string {
	return func(base, path string) string { return strings.TrimSuffix(base, version) + path }
}

// Unversioned is a Wire's Other for APIs whose base URLs contain the version, whatever its name.
func Unversioned(base, path string) string { return base + strings.TrimPrefix(path, "/v1") }

// withoutKeys is a query without credentials.
func withoutKeys(query string) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err == nil && part != "" && !isKey(name) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}
