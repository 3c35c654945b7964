package endpoint

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// native is the request's Native if it is for this wire; otherwise nil.
func (m *Model) native(request llm.Request) *llm.Native {
	if n := request.Native; n != nil && n.Wire == m.wire.Name {
		return n
	}
	return nil
}

// bodyOf is a native body with the model's name on the wire.
func (m *Model) bodyOf(n *llm.Native, model string) ([]byte, error) {
	if m.wire.InPath {
		return n.Body, nil
	}
	return wire.WithModel(n.Body, model)
}

// keys are the query parameters in which APIs accept a credential.
var keys = []string{"key", "api_key", "api-key", "apikey", "access_token"}

func isKey(name string) bool { return slices.Contains(keys, strings.ToLower(name)) }

// withQuery is path with a caller's query added.
func withQuery(path, query string) string {
	values, err := url.ParseQuery(query)
	if err != nil {
		return path
	}
	values.Del("alt") // the path already sets the form of the answer
	maps.DeleteFunc(values, func(name string, _ []string) bool { return isKey(name) })
	switch more := values.Encode(); {
	case more == "":
		return path
	case strings.Contains(path, "?"):
		return path + "&" + more
	default:
		return path + "?" + more
	}
}

// kept are headers that a caller cannot set: credentials, and those that belong to a single
// connection.
var kept = []string{
	"Cookie", "Proxy-Authorization",
	"Host", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Accept-Encoding", "Expect",
	"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Upgrade",
}

// addHeader adds a caller's headers.
func addHeader(to http.Header, from map[string][]string) {
	for name, values := range from {
		if name = http.CanonicalHeaderKey(name); !slices.Contains(kept, name) && !slices.Contains(credentials, name) {
			to[name] = slices.Clone(values)
		}
	}
}
