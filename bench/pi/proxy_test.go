package pi

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/runner"
)

func observed(e *provider.Engine) { e.Observe = true }

// TestProxy checks what only the proxy sees: the provider's Retry-After and request id, and that an
// answer is incomplete. Commands that the model runs do not inherit the proxy's variables.
func TestProxy(t *testing.T) {
	both(t, func(t *testing.T, command []string) {
		for name, c := range map[string]struct {
			model, script string
			want          failure.Kind
			status        int
			after         failure.Millis
		}{
			"rate limit":          {one, "429:1s, answer:Fine.", failure.KindRateLimit, 429, 1000},
			"OpenAI's rate limit": {elsewhere, "429:1s, answer:Fine.", failure.KindRateLimit, 429, 1000},
			"not listed":          {unlisted, "429:1s, answer:Fine.", failure.KindRateLimit, 429, 1000},
			"cut":                 {one, "cut:Half, answer:Fine.", failure.KindStreamInterrupted, 200, 0},
			"ended early":         {elsewhere, "end:Half, answer:Fine.", failure.KindStreamInterrupted, 200, 0},
			"empty":               {elsewhere, "empty, answer:Fine.", failure.KindEmptyResponse, 200, 0},
		} {
			t.Run(name, func(t *testing.T) {
				model := c.model[strings.LastIndexByte(c.model, '/')+1:]
				h := build(t, command, map[string]string{model: `tool:bash:{"command":"env | grep -c MULLIGAN_PI_OBSERVE"}, ` + c.script}, observed)
				got := h.run(t.Context(), runner.Request{Model: c.model})
				if got.err != nil || got.result.Text != "Fine." {
					t.Fatalf("%+v, %v", got.result, got.err)
				}
				if len(got.failures) != 1 {
					t.Fatalf("%+v", got.failures)
				}
				f := got.failures[0]
				if f.Kind != c.want || f.HTTPStatus != c.status || f.RetryAfter != c.after || f.Model != c.model || f.RequestID == "" {
					t.Errorf("%+v", f)
				}
				if len(got.returned) != 1 || strings.TrimSpace(strings.SplitN(got.returned[0].Result.Text, "\n", 2)[0]) != "0" {
					t.Errorf("a command of the model's may see the proxy's URL: %+v", got.returned)
				}
			})
		}
	})
}
