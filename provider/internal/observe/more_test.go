package observe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

// TestMoreFollowsAtOnce: of what was read together all but the last says that more follows, also where
// what follows is broken.
func TestMoreFollowsAtOnce(t *testing.T) {
	for name, body := range map[string]string{
		"whole": "data: a\n\n: b\n\ndata: .\n\n", "an end without a blank line": "data: a\n\n: b\n\ndata: c\n", "an event too large": "data: a\n\n: b\n\n" + "data: " + strings.Repeat("x", 5<<20) + "\n\n",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, body)
		}))
		c, err := New(Config{Provider: "p", BaseURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		last, more := llm.Delta{}, 0
		for d, err := range c.Stream(t.Context(), func() (Ask, error) {
			return Ask{Model: "p/m", Header: http.Header{}, Secrets: NewSecrets(), Decoder: &wordDecoder{}, Frames: true}, nil
		}) {
			if err != nil {
				break
			}
			if last = d; d.More {
				more++
			}
		}
		if last.More || more == 0 {
			t.Errorf("%s: %d said that more follows; the last is %+v", name, more, last)
		}
		server.Close()
	}
}
