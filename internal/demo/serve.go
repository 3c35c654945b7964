package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/show"
)

// Serve serves the demo's provider until ctx ends.
func Serve(ctx context.Context, s *show.Screen, address string) error {
	lab := faultlab.Demo()
	server, err := lab.Listen(address)
	if err != nil {
		return exit.Usage(err)
	}
	defer server.Close() //nolint:errcheck // the program ends
	fmt.Fprint(s.Out, serveText(server.URL()))
	<-ctx.Done()
	return lab.Close()
}

func serveText(url string) string {
	return strings.NewReplacer("URL", url, "KEY", "MULLIGAN_DEMO_KEY", "MULLIGAN", show.Invoked(), "TOOL", faultlab.DemoTool,
		"FABLE", faultlab.DemoModel, "ATLAS", faultlab.DemoFallback, "PROMPT", faultlab.DemoPrompt).Replace(`The demo's provider listens at URL (Anthropic's wire) and URL/v1 (OpenAI's).

Try run against it from another terminal:

cat > demo.yaml <<'END'
model: fable/FABLE
fallbacks: [atlas/ATLAS]
auto_recover: true
providers:
  fable: {type: anthropic, base_url: URL, key_env: KEY}
  atlas: {type: openai, base_url: URL/v1, key_env: KEY}
END
KEY=any MULLIGAN run --config demo.yaml --tool TOOL "PROMPT"

Script its faults per model; the n-th request plays the n-th step, the last one repeats:

curl -H 'Content-Type: application/json' URL/faultlab/script \
  -d '{"model":"FABLE","script":"429:2s, cut:It is 14, stall:It, 503, answer:It is 14 degrees."}'
curl URL/faultlab/requests

Steps: answer:TEXT, tool:NAME:{…}, cut, stall, error, end, malformed, hang, refuse, empty, html502, or a status
such as 429:2s, 401, 503, 529. Ctrl-C stops.
`)
}
