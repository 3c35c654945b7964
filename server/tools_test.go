package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/show"
)

func TestNoRealModelIsGivenTheDemosTools(t *testing.T) {
	t.Setenv("LAB_KEY", "any")
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lab.Close(); _ = server.Close() }()
	c, err := config.Parse(fmt.Appendf(nil, `plugins: []
state: %s
providers:
  anthropic: {base_url: %[2]q, key_env: LAB_KEY}
  openai: {base_url: "%[2]s/v1", key_env: LAB_KEY}
  fable: {type: anthropic, base_url: %[2]q, key_env: LAB_KEY}
  work: {type: anthropic, base_url: %[2]q, key_env: LAB_KEY}
`, t.TempDir(), server.URL()))
	if err != nil {
		t.Fatal(err)
	}
	a := &Server{Screen: show.New(&bytes.Buffer{}, &bytes.Buffer{}), Config: c, Dir: t.TempDir()}
	if err := a.OpenLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	served, models, err := a.Driver(t.Context(), slog.New(slog.DiscardHandler), nil) // as serve, chat and resume have it
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	tools, err := a.Offered(nil, models) // as run has it
	if err != nil {
		t.Fatal(err)
	}
	started := a.Runner(models, health.New(), "fable/one", nil, runner.WithTools(tools...))
	for verb, r := range map[string]*runner.Runner{"serve": served, "run": started} {
		demosToolsOnly(t, verb, r, lab)
	}
}

// demosToolsOnly has r ask models, of which one is the demo's.
func demosToolsOnly(t *testing.T, verb string, r *runner.Runner, lab *faultlab.Lab) {
	t.Helper()
	for model, want := range map[string]bool{"anthropic/claude-sonnet-4-5": false, "openai/gpt-5.2": false, "work/fable-1": false, "fable/one": true} {
		_, name, _ := strings.Cut(model, "/")
		lab.Script(name, faultlab.Answer("Hello."))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Model: model})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		requests := lab.Requests()
		if has := bytes.Contains(requests[len(requests)-1].Body, []byte("get_weather")); has != want {
			t.Errorf("%s: %s is given the demo's weather: %v", verb, model, has)
		}
	}
}
