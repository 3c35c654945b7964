package proxy_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/proxy"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// TestS38LocalOnly: whatever fails, and whatever a plugin says of where to go then, what is for
// this machine alone goes to a model on it, on every wire and in every mode.
func TestS38LocalOnly(t *testing.T) {
	away := func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
		if e.Attempt%2 == 0 {
			return recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "openai/two"}, nil
		}
		return recovery.Vote{Action: recovery.ActionRetry}, nil
	}
	private := proxy.Route{Match: "private", Models: []string{"$provider/$model", "here/one", "openai/two"}, AutoRecover: true, LocalOnly: true}
	for name, step := range map[string]faultlab.Step{
		"answers":    faultlab.Answer("All is well."),
		"overloaded": faultlab.Overloaded(),
		"refused":    faultlab.Unauthorized(),
		"no address": faultlab.Refuse(),
		"cut":        faultlab.CutAfter("It begins so"),
		"not there":  faultlab.Status(404, nil, `{"error":{"code":"model_not_found"}}`),
	} {
		for _, mode := range []proxy.Mode{proxy.ModeContinue, proxy.ModeHold, proxy.ModeError} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				t.Parallel()
				route := private
				route.Mode = mode
				w := newWorldWith(t, slog.New(slog.DiscardHandler), []runner.Option{runner.WithHook("away", hooks.Func(away))}, route, fallback)
				w.lab.Script("one", step)
				w.lab.Script("two", faultlab.Answer("The other one."))
				for path, body := range map[string]string{
					"/v1/messages":                           strings.Replace(question, `"one"`, `"private"`, 1),
					"/v1/chat/completions":                   `{"model":"private","stream":true,"messages":[{"role":"user","content":"hello"}]}`,
					"/v1/responses":                          `{"model":"private","input":"hello"}`,
					"/v1beta/models/private:generateContent": `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`,
					"/v1/embeddings":                         `{"model":"private","input":"hello"}`,
					"/v1/messages/count_tokens":              `{"model":"private","messages":[]}`,
					"/v1/files":                              "hello",
				} {
					_, text := w.post(path, body)
					if strings.Contains(text, "The other one.") {
						t.Errorf("%s: %s", path, text)
					}
				}
				asked := w.arrived()
				for _, r := range asked {
					if !strings.HasPrefix(r.URL.Path, "/here/") {
						t.Errorf("%s is asked", r.URL)
					}
				}
				if len(asked) == 0 {
					t.Error("nobody was asked")
				}
			})
		}
	}
}
