package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

func newDemo() *cobra.Command {
	var (
		f           common
		autoRecover bool
		serve       bool
		addr        string
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a run fail and recover; no key, no network",
		Long: "A real run against a fake provider on this computer that fails on purpose: it breaks off in the middle\n" +
			"of an answer, is unavailable, and runs out of capacity. A plugin, in a process of its own, decides what\n" +
			"to do each time.\n\n" +
			"The models fable/" + faultlab.DemoModel + " and atlas/" + faultlab.DemoFallback + " are always there: `mulligan recover` and `runs resume` start\n" +
			"the demo's provider by themselves when a run needs them.",
		Example: `mulligan demo
mulligan demo --auto-recover=false  # stop and ask
mulligan demo --serve               # only the provider, to try run against`,
		Args: cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			a := &app{screen: newScreen(cmd.OutOrStdout(), cmd.ErrOrStderr()), flags: f, config: &config{AutoRecover: autoRecover}}
			if serve {
				return serveDemo(cmd.Context(), a, addr)
			}
			return a.demo(cmd.Context())
		}),
	}
	cmd.Flags().StringVar(&f.state, "state", "", "the folder that keeps runs (default $XDG_STATE_HOME/mulligan)")
	cmd.Flags().BoolVar(&autoRecover, "auto-recover", true, "carry decisions out; false = stop and ask")
	cmd.Flags().BoolVar(&serve, "serve", false, "only serve the demo's provider")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "the loopback address for --serve")
	return cmd
}

// demo plays the demo. Its narration goes to stderr like that of any run.
func (a *app) demo(ctx context.Context) error {
	a.config.State = orElse(a.flags.state, os.Getenv("MULLIGAN_STATE"))
	var err error
	if a.dir, err = a.config.stateDir(os.Getenv); err != nil {
		return err
	}
	if err := a.openLog(ctx); err != nil {
		return err
	}
	defer a.close()
	ctx, stop := a.interruptible(ctx)
	defer stop()
	models, err := demoModels()
	if err != nil {
		return err
	}
	defer models.close()
	if _, err := models.startDemo(); err != nil {
		return err
	}
	if err := a.startPlugins(ctx); err != nil {
		return interrupted(ctx, err)
	}
	a.introduce(models)
	r := a.runner(models, health.New(), demoFable, []string{demoAtlas}, runner.WithTools(demoTools(models)...))
	run, err := r.Start(ctx, runner.Request{Prompt: faultlab.DemoPrompt})
	if err != nil {
		return interrupted(ctx, err)
	}
	result, err := a.follow(run, &recovery.Run{}, false, true)
	if coded := (*exitError)(nil); errors.As(err, &coded) && coded.code == exitSuggestion {
		a.stopped(models, result)
		return nil
	}
	if err != nil {
		return err
	}
	return a.summarise(ctx, models, result)
}

// introduce says who plays.
func (a *app) introduce(m *models) {
	s := a.screen
	s.line(s.ink.bold("Mulligan's demo: one run, a provider that fails on purpose, a plugin that decides."))
	s.line(fmt.Sprintf("  provider  %s, on this computer; fable speaks Anthropic's wire, atlas OpenAI's", m.server.URL()))
	for _, p := range a.plugins.Statuses() {
		s.line(fmt.Sprintf("  plugin    %s %s, process %d (this one is %d)", oneLine(p.Name), oneLine(p.Version), p.PID, os.Getpid()))
	}
	s.line(fmt.Sprintf("  model     %s; it may switch to %s · auto-recover is %s", demoFable, demoAtlas, onOff(a.config.AutoRecover)))
	s.line("")
	s.line(s.ink.bold("> " + faultlab.DemoPrompt))
}

// stopped ends the demo that asks.
func (a *app) stopped(m *models, result runner.Result) {
	s := a.screen
	s.line("")
	s.line(fmt.Sprintf("auto-recover is off: after the failure no request was sent (%d in all), and nothing is lost.", len(m.lab.Requests())))
	s.line("Type one of the lines above. " + a.hint("runs show "+result.Run) + " tells what happened.")
}

// tally is what a run's events amount to in the summary.
type tally struct {
	lines []string
	tools map[string]int // how often each ran
}

// summarise says what happened and what to type next.
func (a *app) summarise(ctx context.Context, m *models, result runner.Result) error {
	events, err := a.log.Read(ctx, result.Run, 0, 0)
	if err != nil {
		return err
	}
	t := tallyUp(events)
	s := a.screen
	s.line("")
	s.line(s.ink.bold("What happened"))
	for _, line := range t.lines {
		s.line("  " + oneLine(line))
	}
	for name, n := range t.tools {
		s.line(fmt.Sprintf("  %s ran %s: a retry repeats the model call, never a finished tool.", name, times(n)))
	}
	s.line(fmt.Sprintf("  The provider saw %d requests over TCP; the run is %s.", len(m.lab.Requests()), result.Status))
	s.line("")
	s.line(s.ink.bold("What to type next"))
	a.next(a.hint("runs show "+result.Run), "this run as a story")
	a.next("make demo AUTO=0", "stop and ask instead: "+a.hint("demo --auto-recover=false"))
	a.next("ANTHROPIC_API_KEY=… "+a.hint(`run --auto-recover "Hello"`), "a real model")
	return nil
}

func (a *app) next(line, what string) {
	a.screen.line("  " + a.screen.ink.cyan(line))
	a.screen.line("      " + what)
}

func tallyUp(events []recovery.Event) tally {
	t := tally{tools: map[string]int{}}
	for _, e := range events {
		switch b := e.Body.(type) {
		case recovery.Answered:
			what := "answered"
			if calls := b.Message.Calls(); len(calls) > 0 {
				what = "asked for " + calls[0].Name
			}
			t.lines = append(t.lines, b.Message.Model+" "+what+".")
		case recovery.Failed:
			t.lines = append(t.lines, b.Failure.Model+" failed: "+strings.TrimSuffix(b.Failure.Title, ".")+".")
		case recovery.Decided:
			line := "  → " + tellAction(b.Decision.Action, b.Decision.NewModel, b.Decision.Delay)
			if b.Decision.By != nil {
				line += ", as the plugin " + b.Decision.By.Plugin + " said"
			}
			t.lines = append(t.lines, line)
		case recovery.ToolBegan:
			t.tools[b.Name]++
		}
	}
	return t
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return itoa(n) + " times"
}

// serveDemo serves the demo's provider until it is stopped.
func serveDemo(ctx context.Context, a *app, addr string) error {
	lab := faultlab.Demo()
	server, err := lab.Listen(addr)
	if err != nil {
		return usage(err)
	}
	defer server.Close() //nolint:errcheck // the program ends
	ctx, stop := a.interruptible(ctx)
	defer stop()
	fmt.Fprint(a.screen.out, serveText(server.URL()))
	<-ctx.Done()
	return lab.Close()
}

func serveText(url string) string {
	return strings.NewReplacer("URL", url, "KEY", "MULLIGAN_DEMO_KEY", "MULLIGAN", invoked(), "TOOL", faultlab.DemoTool,
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
