package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// weather is a tool whose schema wants a city's name.
func weather(ran *atomic.Int32) runner.Tool {
	return runner.Tool{
		Name:   "weather",
		Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		Run: func(context.Context, runner.ToolCall) (string, error) {
			ran.Add(1)
			return "sunny", nil
		},
	}
}

// TestArgumentsAreHeldToTheSchema: a call that does not fit never reaches its tool, and the
// model is told why, three times in a row; the fourth such answer is malformed.
func TestArgumentsAreHeldToTheSchema(t *testing.T) {
	var ran atomic.Int32
	wrong, right := callsTool("c1", "weather", `{"city": 42}`), callsTool("c2", "weather", `{"city": "Cairo"}`)
	model := script(wrong, wrong, wrong, right, wrong, answers("sunny"))
	text, err := runner.New(runner.WithModel(primary, model), runner.WithTools(weather(&ran))).Run(t.Context(), "hi")
	if err != nil || text != "sunny" || ran.Load() != 1 {
		t.Fatalf("got %q, %v; the tool ran %d times", text, err, ran.Load())
	}
	said := model.calls()[1].Messages
	result := said[len(said)-1].Parts[0].Result
	if result == nil || !result.IsError || !strings.Contains(result.Text, "at /city: got number, want string") {
		t.Errorf("the model was told %+v", result)
	}

	ran.Store(0)
	model = script(wrong)
	_, err = runner.New(runner.WithModel(primary, model), runner.WithTools(weather(&ran))).Run(t.Context(), "hi")
	wantError(t, err, failure.KindMalformedResponse)
	if n := len(model.calls()); n != 4 || ran.Load() != 0 {
		t.Errorf("%d requests, want 4; the tool ran %d times", n, ran.Load())
	}
}

// TestBadToolsAreRefusedAtTheStart, by name.
func TestBadToolsAreRefusedAtTheStart(t *testing.T) {
	run := func(context.Context, runner.ToolCall) (string, error) { return "", nil }
	for want, tools := range map[string][]runner.Tool{
		`tool "bad name!": a name is 1 to 64 letters`:    {{Name: "bad name!", Run: run}},
		`tool "": a name is`:                             {{Run: run}},
		`tool "twice": there are two`:                    {{Name: "twice", Run: run}, {Name: "twice", Run: run}},
		`tool "idle": its Run is nil`:                    {{Name: "idle"}},
		`tool "empty": its Run is nil`:                   {runner.ToolOf[struct{}, string]("empty", "", nil)},
		`tool "odd": its schema: it is not a valid JSON`: {{Name: "odd", Run: run, Schema: json.RawMessage(`{"type": 7}`)}},
	} {
		model := script(answers("hello"))
		_, err := runner.New(runner.WithModel(primary, model), runner.WithTools(tools...)).Run(t.Context(), "hi")
		if err == nil || !strings.Contains(err.Error(), want) || len(model.calls()) != 0 {
			t.Errorf("%v after %d calls, want %s", err, len(model.calls()), want)
		}
	}
}

// TestAPanickingToolIsTheToolsFailure: it has the tool's name, its stack is in the log, and
// the model is told.
func TestAPanickingToolIsTheToolsFailure(t *testing.T) {
	for _, safety := range []recovery.Safety{recovery.SafetyUnsafe, recovery.SafetyReadOnly} {
		var log bytes.Buffer
		var asked failure.Failure
		hook := hooks.Func(func(_ context.Context, e hooks.RunError) (recovery.Vote, error) {
			asked = e.Failure
			return recovery.Vote{}, nil
		})
		model := script(callsTool("c1", "weather", "{}"), answers("it is broken"))
		text, err := runner.New(
			runner.WithModel(primary, model), runner.WithHook("h", hook), runner.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			runner.WithTools(runner.Tool{Name: "weather", Safety: safety, Run: func(context.Context, runner.ToolCall) (string, error) {
				panic("the tool broke")
			}}),
		).Run(t.Context(), "hi")
		if err != nil || text != "it is broken" {
			t.Fatalf("got %q, %v", text, err)
		}
		unsure := strings.Contains(asked.Message, "may or may not have taken effect")
		if asked.Kind != failure.KindToolFailure || asked.Origin != failure.OriginTool || asked.Tool != "weather" || asked.Title != "Weather failed" && asked.Title != "weather failed" ||
			unsure != (safety == recovery.SafetyUnsafe) || asked.Detail != "panic: the tool broke" {
			t.Errorf("the hook was told %+v", asked)
		}
		if !strings.Contains(log.String(), "arguments_test.go") || !strings.Contains(log.String(), "tool=weather") {
			t.Errorf("no stack in the log: %s", log.String())
		}
		said := model.calls()[1].Messages
		if result := said[len(said)-1].Parts[0].Result; result == nil || !result.IsError || !strings.HasPrefix(result.Text, "weather failed. It crashed") {
			t.Errorf("the model was told %+v", result)
		}
	}
}

// callsMany asks for the same tool many times in one answer.
func callsMany(n int, args string) step {
	return func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaStart})
		for i := range n {
			hear(llm.Delta{Kind: llm.DeltaCall, Index: i, CallID: fmt.Sprint("c", i), Name: "weather"})
			if !hear(llm.Delta{Kind: llm.DeltaArgs, Index: i, Text: args}) {
				return nil
			}
		}
		hear(llm.Delta{Kind: llm.DeltaStop, Stop: llm.StopToolUse})
		return nil
	}
}

// TestAnAnswerMayAskForSoMuch: an answer with more calls than that, or with longer arguments, is
// malformed; the model is told so once, when it is asked again.
func TestAnAnswerMayAskForSoMuch(t *testing.T) {
	const city = `{"city": "Cairo"}`
	for want, tt := range map[string]struct {
		step step
		fits bool
	}{
		"as many as there may be":      {callsMany(128, city), true},
		"more than 128 tool calls":     {callsMany(129, city), false},
		"as long as they may be":       {callsMany(1, fmt.Sprintf(`{"city": %q}`, strings.Repeat("x", 1<<20-12))), true},
		"arguments have more than 1 M": {callsMany(1, fmt.Sprintf(`{"city": %q}`, strings.Repeat("x", 1<<20))), false},
	} {
		var ran atomic.Int32
		model := script(tt.step, callsTool("again", "weather", city), answers("sunny"))
		text, err := runner.New(runner.WithModel(primary, model), runner.WithTools(weather(&ran)), runner.WithSystem("Be brief."),
			runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow))).Run(t.Context(), "hi")
		if err != nil || text != "sunny" {
			t.Fatalf("%s: got %q, %v", want, text, err)
		}
		calls := model.calls()
		if told := strings.Contains(calls[1].System, want); told == tt.fits || calls[2].System != "Be brief." {
			t.Errorf("%s: the model was told %q, and then %q", want, calls[1].System, calls[2].System)
		}
		if !tt.fits && ran.Load() != 1 {
			t.Errorf("%s: %d tools ran", want, ran.Load())
		}
	}
}

// TestToolsSideBySide: no more than the policy allows at a time, and all of them in the end.
func TestToolsSideBySide(t *testing.T) {
	for limit, most := range map[int]int32{3: 3, 16: 16, 0: 40} {
		var now, peak, ran atomic.Int32
		full := make(chan struct{})
		tool := runner.Tool{Name: "weather", Run: func(context.Context, runner.ToolCall) (string, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
			}
			if n == most && ran.Load() == 0 {
				time.AfterFunc(20*time.Millisecond, func() { close(full) }) // one more would begin by then
			}
			<-full
			ran.Add(1)
			return "", nil
		}}
		r := runner.New(runner.WithModel(primary, script(callsMany(40, "{}"), answers("done"))), runner.WithTools(tool),
			runner.WithPolicy(func(p *recovery.Policy) { p.ParallelTools = limit }))
		if text, err := r.Run(t.Context(), "hi"); err != nil || text != "done" || ran.Load() != 40 || peak.Load() != most {
			t.Errorf("limit %d: %q, %v, %d ran, %d at a time", limit, text, err, ran.Load(), peak.Load())
		}
	}
}
