package bench

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/openai"
)

// The provider's models: steady answers every request, flaky fails every other one with a 503.
const (
	roleProvider = "provider"
	steady       = "steady"
	flaky        = "flaky"
)

// answerText is what both answer, streamed in 32 chunks.
var answerText = strings.TrimSpace(strings.Repeat("It is clear in Oslo tonight. And ", 5)) + " cold."

func init() {
	roles[roleProvider] = func([]string) error {
		lab := faultlab.New()
		lab.Script(steady, faultlab.Answer(answerText))
		var steps []faultlab.Step
		for range 1 << 15 { // more than any run asks for
			steps = append(steps, faultlab.Unavailable(), faultlab.Answer(answerText))
		}
		lab.Script(flaky, steps...)
		server, err := lab.Listen("127.0.0.1:0")
		if err != nil {
			return err
		}
		defer server.Close()
		return serveUntilEOF(server.URL())
	}
}

// adapter is our own adapter for the provider at url.
func adapter(b *testing.B, url string, dial dialFunc) llm.Model {
	b.Helper()
	model, err := openai.New(openai.Config{
		Name: "lab", BaseURL: url + "/v1", Key: func() (string, error) { return "sk-bench", nil }, DialContext: dial,
	})
	if err != nil {
		b.Fatal(err)
	}
	return model
}
