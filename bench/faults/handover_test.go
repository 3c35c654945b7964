package faults

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// route is the order of the run's models: each wire in turn, and back to the first.
var route = []struct{ entry, wire, model string }{
	{"anthropic", "anthropic", "claude-test"},
	{"openai-responses", "responses", "gpt-test"},
	{"gemini", "gemini", "gemini-3-test"},
	{"openai", "openai", "gpt-chat-test"},
}

// TestOneRunOverEveryWire: a run begins on Anthropic with thinking and parallel tool calls, is cut
// off there, continues on OpenAI's Responses API, is cut off again, and so on over every wire and
// back. The lab is strict: it refuses every transcript that a real service would refuse.
func TestOneRunOverEveryWire(t *testing.T) {
	lab := faultlab.New()
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lab.Close(); _ = server.Close() }()
	log := timeline.NewMemory()
	options := []runner.Option{
		runner.WithLog(log), runner.WithAutoRecover(true), runner.WithTools(journal.tools()...),
		runner.WithHook("round-robin", hooks.Func(next)),
		runner.WithPolicy(func(p *recovery.Policy) { p.MaxRetries = 6 }),
	}
	for i, stop := range route {
		model, err := adapters[stop.wire](stop.entry, access{base: server.URL()})
		if err != nil {
			t.Fatal(err)
		}
		options = append(options, runner.WithModel(full(i), model))
		steps := []faultlab.Step{
			faultlab.Thinking("I need the weather and the time, I think.", faultlab.ToolCalls("Let me look.",
				faultlab.Call{Name: "get_weather", Args: `{"city":"Oslo"}`}, faultlab.Call{Name: "get_time", Args: `{"zone":"CET"}`})),
			faultlab.CutAfter("It is 14 °C and"),
		}
		if i == 0 {
			steps = append(steps, faultlab.Thinking("Again.", faultlab.ToolCall("get_time", `{}`)), faultlab.Answer("It is 14 °C at noon."))
		}
		lab.Script(stop.model, steps...)
	}
	text, err := runner.New(options...).Run(t.Context(), "How warm is it, and how late?")
	if err != nil || text != "It is 14 °C at noon." {
		t.Errorf("got %q, %v", text, err)
	}
	for i, q := range lab.Requests() {
		if q.Refused != "" {
			t.Errorf("request %d, %s: %s\n%s", i, q.Wire, q.Refused, q.Body)
		}
	}
	if n, want := journal.count(), 2*len(route)+1; n != want {
		t.Errorf("tools ran %d times, want %d", n, want)
	}
	checkRoute(t, log)
}

func full(i int) string { return route[i].entry + "/" + route[i].model }

// next switches to the model after the one that failed, with high reasoning effort.
func next(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
	at := slices.IndexFunc(route, func(stop struct{ entry, wire, model string }) bool { return stop.entry+"/"+stop.model == e.Model })
	return recovery.Vote{
		Action: recovery.ActionSwitchModel, NewModel: full((at + 1) % len(route)), Adjust: recovery.Adjust{ReasoningEffort: "high"},
	}, nil
}

// toolLog records what the tools did.
type toolLog struct {
	mu  sync.Mutex
	ran int
}

var journal toolLog

func (d *toolLog) tools() []runner.Tool {
	run := func(context.Context, runner.ToolCall) (string, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ran++
		return "noon, 14 °C", nil
	}
	return []runner.Tool{{Name: "get_weather", Run: run}, {Name: "get_time", Run: run}}
}

func (d *toolLog) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ran
}

// checkRoute checks the timeline: each transcript that needed a repair was repaired once, and none
// of the withdrawn text is kept.
func checkRoute(t *testing.T, log timeline.Log) {
	t.Helper()
	runs, err := log.List(t.Context(), timeline.Query{})
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	events, err := log.Read(t.Context(), runs[0].Run, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	run, err := recovery.Fold(events)
	if err != nil {
		t.Fatal(err)
	}
	if run.Status != recovery.StatusCompleted {
		t.Errorf("the run is %s", run.Status)
	}
	for i := range route {
		said := run.Repaired[full(i)]
		foreign := slices.ContainsFunc(said, func(r llm.Repair) bool { return r.Kind == llm.RepairThinking })
		if !foreign {
			t.Errorf("%s: repairs %+v, want foreign thinking to be left out", full(i), said)
		}
	}
	for _, m := range run.Messages {
		if strings.Contains(m.Text(), "14 °C and") {
			t.Errorf("withdrawn text is in the history: %q", m.Text())
		}
	}
}
