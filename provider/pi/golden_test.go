package pi

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/llm"
)

var (
	record  = flag.Bool("record", false, "record what the real Pi says anew, in both generations")
	rewrite = flag.Bool("rewrite", false, "write anew what recordings amount to")
)

// row is one thing that a provider does to Pi: what the models one and two play, in the
// language of faultlab.Parse.
type row struct {
	name     string
	wire     string // fakean or fakeoa
	one, two string
	attempts int      // how often it is tried again after a failure
	models   []string // what is asked, attempt by attempt; the last one stays
	retries  Retries
}

// rows is the behaviour of providers that Pi was measured with.
var rows = []row{
	{name: "answer", wire: "fakean", one: "answer:It is fine."},
	{name: "tool", wire: "fakean", one: `tool:bash:{"command":"echo danger"}, answer:Done.`},
	{name: "tool-openai", wire: "fakeoa", one: `tool:bash:{"command":"echo danger"}, answer:Done.`},
	{name: "two-tools", wire: "fakean", one: `tool:bash:{"command":"echo a"}+bash:{"command":"echo b; exit 3"}, answer:Done.`},
	{name: "rate-limit", wire: "fakean", one: "429:1s, answer:Fine.", attempts: 1},
	{name: "rate-limit-long", wire: "fakean", one: "429:120s, answer:Fine.", attempts: 1},
	{name: "rate-limit-openai", wire: "fakeoa", one: "429:1s, answer:Fine.", attempts: 1},
	{name: "quota-openai", wire: "fakeoa", one: "row:O04, answer:Fine.", attempts: 1},
	{name: "overloaded", wire: "fakean", one: "529, answer:Fine.", attempts: 1},
	{name: "unavailable", wire: "fakean", one: "500, answer:Fine.", attempts: 1},
	{name: "html-502", wire: "fakean", one: "html502, answer:Fine.", attempts: 1},
	{name: "empty-503", wire: "fakean", one: "row:T52, answer:Fine.", attempts: 1},
	{name: "error-event", wire: "fakean", one: "error:Half, answer:Fine.", attempts: 1},
	{name: "error-event-overloaded", wire: "fakean", one: "row:A06, answer:Fine.", attempts: 1},
	{name: "error-event-openai", wire: "fakeoa", one: "error:Half, answer:Fine.", attempts: 1},
	{name: "bad-key", wire: "fakean", one: "401, answer:Fine.", attempts: 1},
	{name: "bad-key-openai", wire: "fakeoa", one: "401, answer:Fine.", attempts: 1},
	{name: "forbidden", wire: "fakean", one: "403", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}},
	{name: "credit", wire: "fakean", one: "row:A18", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}},
	{name: "no-model", wire: "fakeoa", one: "row:R14", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}},
	{name: "invalid", wire: "fakean", one: "row:A32", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}},
	{name: "overflow", wire: "fakean", one: "row:A23", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}},
	{name: "overflow-openai", wire: "fakeoa", one: "row:O20", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}},
	{name: "refused", wire: "fakean", one: "refuse, answer:Fine.", attempts: 1},
	{name: "cut", wire: "fakean", one: "cut:Half of, answer:Fine.", attempts: 1},
	{name: "cut-openai", wire: "fakeoa", one: "cut:Half of, answer:Fine.", attempts: 1},
	{name: "end", wire: "fakean", one: "end:Half of, answer:Fine.", attempts: 1},
	{name: "end-openai", wire: "fakeoa", one: "end:Half of, answer:Fine.", attempts: 1},
	{name: "end-in-arguments", wire: "fakean", one: "row:A37, answer:Fine.", attempts: 1},
	{name: "end-in-arguments-openai", wire: "fakeoa", one: "row:O31, answer:Fine.", attempts: 1},
	{name: "empty", wire: "fakean", one: "empty, answer:Fine.", attempts: 1},
	{name: "empty-openai", wire: "fakeoa", one: "empty, answer:Fine.", attempts: 1},
	{name: "html-200", wire: "fakean", one: "row:T13, answer:Fine.", attempts: 1},
	{name: "malformed", wire: "fakean", one: "malformed:Half, answer:Fine.", attempts: 1},
	{name: "malformed-openai", wire: "fakeoa", one: "malformed:Half, answer:Fine.", attempts: 1},
	{name: "filtered", wire: "fakeoa", one: "row:O30", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}},
	{name: "length", wire: "fakean", one: "row:A38"},
	{name: "tool-then-unavailable", wire: "fakean", one: `tool:bash:{"command":"echo danger"}, 503, 529`, two: "answer:Done.", attempts: 2, models: []string{"one", "one", "two"}},
	{name: "tool-then-cut", wire: "fakeoa", one: `tool:bash:{"command":"echo danger"}, cut:Half, answer:Done.`, attempts: 1},
	{name: "own-retry", wire: "fakean", one: "529, answer:Fine.", attempts: 1, retries: RetriesPi},
	{name: "own-retry-switch", wire: "fakean", one: "529", two: "answer:Fine.", attempts: 1, models: []string{"one", "two"}, retries: RetriesPi},
}

func (r row) scripts() map[string]string {
	scripts := map[string]string{"one": r.one}
	if r.two != "" {
		scripts["two"] = r.two
	}
	return scripts
}

// play asks as a runner would, and gives what it hears.
func (r row) play(t *testing.T, e *Engine) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	models := r.models
	if len(models) == 0 {
		models = []string{"one"}
	}
	var b strings.Builder
	messages := []llm.Message{llm.User("hi")}
	for failures, rounds := 0, 0; failures <= r.attempts && rounds < 8; rounds++ {
		model := "pi/" + r.wire + "/" + models[min(failures, len(models)-1)]
		fmt.Fprintln(&b, model)
		var a llm.Answer
		var failed error
		for d, err := range e.Stream(ctx, llm.Request{Model: model, Session: "s", Messages: messages}) {
			failed = err
			a.Add(d)
		}
		m := a.Message(model)
		for _, p := range m.Parts {
			switch {
			case p.Text != "":
				fmt.Fprintf(&b, "  says %q\n", p.Text)
			case p.Thinking != nil:
				fmt.Fprintf(&b, "  thinks %q\n", p.Thinking.Text)
			case p.Call != nil:
				fmt.Fprintf(&b, "  calls %s %s\n", p.Call.Name, p.Call.Args)
			}
		}
		if failed != nil {
			failures++
			f, ok := failure.AsFailure(failed)
			if !ok {
				t.Fatal(failed)
			}
			fmt.Fprintf(&b, "  fails: %s %s %d %q retry after %d, of %s: %q\n", f.Kind, f.Phase, f.HTTPStatus, f.ProviderCode, f.RetryAfter, f.Provider, words.Clip(f.Detail, 200))
			continue
		}
		fmt.Fprintf(&b, "  stops: %s, %v\n", a.Stop, a.Usage.Total() > 0)
		messages = append(messages, m)
		if a.Stop != llm.StopToolUse {
			break
		}
		told := llm.Message{Role: llm.RoleTool}
		for _, call := range m.Calls() {
			result, err := e.Result(ctx, "s", call, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %s gives %q, error %v\n", call.Name, result.Text, result.IsError)
			told.Parts = append(told.Parts, llm.Part{Result: &result})
		}
		messages = append(messages, told)
	}
	return b.String()
}

// TestGolden replays what the real Pi said to each row, in two generations, and compares
// what the engine makes of it.
func TestGolden(t *testing.T) {
	for generation := range generations {
		for _, r := range rows {
			t.Run(generation+"/"+r.name, func(t *testing.T) {
				file := filepath.Join("testdata", generation, r.name+".txt")
				if !*record {
					t.Parallel()
				} else {
					recordRow(t, generation, r, file)
				}
				script, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err, "; record it with -record")
				}
				got := []byte(r.play(t, fake(t, string(script), func(c *Config) { c.Retries = r.retries })))
				golden := strings.TrimSuffix(file, ".txt") + ".golden"
				if *rewrite {
					if err := os.WriteFile(golden, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil || !bytes.Equal(want, got) {
					t.Errorf("%s: %v\n%s\nnot\n%s", golden, err, got, want)
				}
			})
		}
	}
}
