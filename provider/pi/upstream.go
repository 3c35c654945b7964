package pi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// builtIn are base URLs of those of Pi's own providers that are asked at only one address. If a Pi
// knows another address, its requests are left alone (observe.js).
var builtIn = map[string]string{
	"anthropic":  "https://api.anthropic.com",
	"cerebras":   "https://api.cerebras.ai/v1",
	"deepseek":   "https://api.deepseek.com",
	"google":     "https://generativelanguage.googleapis.com/v1beta",
	"groq":       "https://api.groq.com/openai/v1",
	"mistral":    "https://api.mistral.ai",
	"openai":     "https://api.openai.com/v1",
	"openrouter": "https://openrouter.ai/api/v1",
	"xai":        "https://api.x.ai/v1",
}

// maxUpstreams is how many of the person's own providers are observed.
const maxUpstreams = 256

// upstream is where one of Pi's providers is asked.
type upstream struct {
	base string // without a slash at its end
	own  bool   // the person named it
}

// upstreams are the base URLs of the providers that Pi may be observed with: those in the person's
// models.json, and otherwise those of Pi's own list.
func (f folder) upstreams() (map[string]upstream, error) {
	found := map[string]upstream{}
	for name, base := range builtIn {
		found[name] = upstream{base: base}
	}
	var document struct {
		Providers map[string]struct {
			BaseURL string `json:"baseUrl"`
		} `json:"providers"`
	}
	content, err := wholefile.Read(filepath.Join(f.path, modelsFile), maxPersonFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, nil
	case err == nil:
		err = json.Unmarshal(content, &document)
	}
	if err != nil { // it is not known where it would make Pi ask
		return nil, fmt.Errorf("%s cannot be read, so that nobody knows where its providers are (comments are not understood): %w", modelsFile, err)
	}
	for name, p := range document.Providers {
		if base := strings.TrimRight(p.BaseURL, "/"); base != "" && len(found) < maxUpstreams {
			found[name] = upstream{base: base, own: true}
		}
	}
	return found, nil
}
