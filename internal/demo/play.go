package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

// telling shows the demo on a screen.
type telling struct{ *server.Server }

// Play plays the demo until ctx ends it. Its narration goes to stderr like that of any run.
func Play(ctx context.Context, srv *server.Server) error {
	if err := srv.OpenLog(ctx); err != nil {
		return err
	}
	defer srv.Close()
	models, err := server.DemoModels()
	if err != nil {
		return err
	}
	defer models.Close()
	if _, err := models.StartDemo(); err != nil {
		return err
	}
	if err := srv.StartPlugins(ctx); err != nil {
		return err
	}
	t := telling{srv}
	t.introduce(models)
	r := srv.Runner(models, health.New(), server.DemoFable, []string{server.DemoAtlas}, runner.WithTools(server.DemoTools(models)...))
	run, err := r.Start(ctx, runner.Request{Prompt: faultlab.DemoPrompt})
	if err != nil {
		return err
	}
	result, err := srv.Screen.Follow(run, &recovery.Run{}, false, true)
	if coded := (*exit.Error)(nil); errors.As(err, &coded) && coded.Code == exit.CodeSuggestion {
		t.stopped(models, result)
		return nil
	}
	if err != nil {
		return err
	}
	return t.summarise(ctx, models, result)
}

// introduce says which models take part.
func (t telling) introduce(m *server.Models) {
	s := t.Screen
	s.Line(s.Ink.Bold("Mulligan's demo: one run, a provider that fails on purpose, a plugin that decides."))
	s.Line(fmt.Sprintf("  provider  %s, on this computer; fable speaks Anthropic's wire, atlas OpenAI's", m.Server.URL()))
	for _, p := range t.Plugins.Statuses() {
		s.Line(fmt.Sprintf("  plugin    %s %s, process %d (this one is %d)", terminal.OneLine(p.Name), terminal.OneLine(p.Version), p.PID, os.Getpid()))
	}
	s.Line(fmt.Sprintf("  model     %s; it may switch to %s · auto-recover is %s", server.DemoFable, server.DemoAtlas, show.OnOff(t.Config.AutoRecover)))
	s.Line("")
	s.Line(s.Ink.Bold("> " + faultlab.DemoPrompt))
}

// stopped ends the demo that asks.
func (t telling) stopped(m *server.Models, result runner.Result) {
	s := t.Screen
	s.Line("")
	s.Line(fmt.Sprintf("auto-recover is off: after the failure no request was sent (%d in all), and nothing is lost.", len(m.Lab.Requests())))
	s.Line("Type one of the lines above. " + t.Screen.Hint("runs show "+result.Run) + " tells what happened.")
}

// tally sums up a run's events for the summary.
type tally struct {
	lines []string
	tools map[string]int // how often each ran
}

// summarise says what happened and what to type next.
func (t telling) summarise(ctx context.Context, m *server.Models, result runner.Result) error {
	events, err := t.Log.Read(ctx, result.Run, 0, 0)
	if err != nil {
		return err
	}
	told := tallyUp(events)
	s := t.Screen
	s.Line("")
	s.Line(s.Ink.Bold("What happened"))
	for _, line := range told.lines {
		s.Line("  " + terminal.OneLine(line))
	}
	for name, n := range told.tools {
		s.Line(fmt.Sprintf("  %s ran %s: a retry repeats the model call, never a finished tool.", name, times(n)))
	}
	s.Line(fmt.Sprintf("  The provider saw %d requests over TCP; the run is %s.", len(m.Lab.Requests()), result.Status))
	s.Line("")
	s.Line(s.Ink.Bold("What to type next"))
	t.next(t.Screen.Hint("runs show "+result.Run), "this run as a story")
	t.next("make demo AUTO=0", "stop and ask instead: "+t.Screen.Hint("demo --auto-recover=false"))
	t.next("ANTHROPIC_API_KEY=… "+t.Screen.Hint(`run --auto-recover "Hello"`), "a real model")
	return nil
}

func (t telling) next(line, what string) {
	t.Screen.Line("  " + t.Screen.Ink.Cyan(line))
	t.Screen.Line("      " + what)
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
			line := "  → " + show.TellAction(b.Decision.Action, b.Decision.NewModel, b.Decision.Delay)
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
	return strconv.Itoa(n) + " times"
}
