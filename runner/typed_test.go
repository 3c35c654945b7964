package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

type weatherQuery struct {
	City string `json:"city" jsonschema:"the city, in English"`
	Days int    `json:"days,omitempty"`
}

type reading struct {
	City    string  `json:"city"`
	Celsius float64 `json:"celsius"`
}

func forecast(_ context.Context, q weatherQuery) (reading, error) {
	if q.City == "Nowhere" {
		return reading{}, errors.New("there is no such city")
	}
	return reading{City: q.City, Celsius: 7.5}, nil
}

func TestToolOfAFunction(t *testing.T) {
	model := script(
		callsTool("c1", "weather", `{"city":"Oslo","days":2}`), callsTool("c2", "weather", `{"days":2}`),
		callsTool("c3", "weather", `{"city":"Nowhere"}`), callsTool("c4", "who", `{}`), answers("7.5 degrees"))
	who := runner.ToolOf("who", "Who asks.", func(ctx context.Context, _ struct{}) (string, error) {
		call := runner.CallOf(ctx)
		return call.Labels["tenant"] + " " + call.ID, nil
	})
	r := runner.New(runner.WithModel(primary, model), runner.WithTools(runner.ToolOf("weather", "The reading.", forecast), who))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Labels: recovery.Labels{"tenant": "acme"}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const schema = `{"type":"object","properties":{"city":{"type":"string","description":"the city, in English"},"days":{"type":"integer"}},` +
		`"required":["city"],"additionalProperties":false}`
	if got := model.calls()[0].Tools[0]; string(got.Schema) != schema || got.Name != "weather" || got.Description != "The reading." {
		t.Errorf("the model is told of %s %s", got.Name, got.Schema)
	}
	results := map[string]string{}
	for _, m := range result.State.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				results[p.Result.CallID] = p.Result.Text
			}
		}
	}
	for id, want := range map[string]string{"c1": `{"city":"Oslo","celsius":7.5}`, "c2": "do not fit the schema", "c3": "there is no such city", "c4": "acme c4"} {
		if !strings.Contains(results[id], want) {
			t.Errorf("%s: %q is not %q", id, results[id], want)
		}
	}
}

func TestToolOfWhatHasNoSchema(t *testing.T) {
	type endless struct {
		Next *endless `json:"next"`
	}
	for name, tool := range map[string]runner.Tool{
		"no struct": runner.ToolOf("t", "", func(context.Context, string) (string, error) { return "", nil }),
		"a channel": runner.ToolOf("t", "", func(context.Context, struct{ C chan int }) (string, error) { return "", nil }),
		"a cycle":   runner.ToolOf("t", "", func(context.Context, endless) (string, error) { return "", nil }),
	} {
		t.Run(name, func(t *testing.T) {
			r := runner.New(runner.WithModel(primary, script(answers("hi"))), runner.WithTools(tool))
			if _, err := r.Run(t.Context(), "hi"); err == nil || !strings.Contains(err.Error(), `tool "t"`) {
				t.Errorf("it starts: %v", err)
			}
		})
	}
}

// TestFormIsAskedFor by every call of a run, also after a failure and by another process; that
// a tool has to be called only until one was.
func TestFormIsAskedFor(t *testing.T) {
	broken := &failure.Failure{Kind: failure.KindOverloaded, Origin: failure.OriginModel, Retryable: true}
	model := script(callsTool("c1", "weather", `{"city":"Oslo"}`), fails("", broken))
	log := timeline.NewMemory()
	tools := runner.WithTools(runner.ToolOf("weather", "", forecast))
	form := recovery.Form{
		Temperature: new(0.25), ToolChoice: llm.ToolChoice{Mode: llm.ToolRequired, Name: "weather"}, Format: runner.FormatOf[reading](),
	}
	r := runner.New(runner.WithLog(log), runner.WithModel(primary, model), tools)
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Form: form})
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(t.Context())
	problem, ok := errors.AsType[*runner.Error](err)
	if !ok || problem.Suggestion == nil {
		t.Fatalf("no suggestion: %v", err)
	}
	other := script(answers("```json\n{\"city\":\"Oslo\",\"celsius\":7.5}\n```"))
	second := runner.New(runner.WithLog(log), runner.WithModel(primary, other), tools)
	again, err := second.Recover(t.Context(), run.ID(), runner.Answer{Suggestion: problem.Suggestion.ID, Action: problem.Suggestion.Actions[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	result, err := again.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := runner.AnswerOf[reading](result); err != nil || got != (reading{"Oslo", 7.5}) {
		t.Errorf("the answer is %+v, %v", got, err)
	}
	calls := append(model.calls(), other.calls()...)
	for i, c := range calls {
		if *c.Temperature != 0.25 || c.Format == nil || !c.Format.Strict || (c.ToolChoice == form.ToolChoice) != (i == 0) {
			t.Errorf("call %d is asked with %v, %+v, %+v", i, *c.Temperature, c.Format, c.ToolChoice)
		}
	}
	if len(calls) != 3 {
		t.Errorf("%d calls", len(calls))
	}
}

// TestAnAnswerOfAnotherForm is no answer: the model is told why, and asked again.
func TestAnAnswerOfAnotherForm(t *testing.T) {
	model := script(answers("It is 7.5 degrees."), answers(`{"city":"Oslo"}`), answers(`{"city":"Oslo","celsius":7.5}`))
	r := runner.New(runner.WithModel(primary, model), runner.WithAutoRecover(true), runner.WithHook("h", advise(retryNow)))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Form: recovery.Form{Format: runner.FormatOf[reading]()}})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(t.Context()); err != nil || result.Text != `{"city":"Oslo","celsius":7.5}` {
		t.Fatalf("it came to %q, %v", result.Text, err)
	}
	for i, want := range []string{"", "one JSON value", "celsius"} {
		if got := model.calls()[i].System; !strings.Contains(got, want) || (i == 0) != (got == "") {
			t.Errorf("call %d is told %q", i, got)
		}
	}
}

func TestFormsThatAreNone(t *testing.T) {
	r := runner.New(runner.WithModel(primary, script(answers("hi"))))
	for want, form := range map[string]recovery.Form{
		"0 to 2":             {Temperature: new(2.5)},
		"there is none":      {ToolChoice: llm.ToolChoice{Mode: llm.ToolRequired}},
		"of that name":       {ToolChoice: llm.ToolChoice{Name: "f"}},
		`tool choice "some"`: {ToolChoice: llm.ToolChoice{Mode: "some"}},
		"has no schema":      {Format: &llm.Format{}},
		"its schema":         {Format: &llm.Format{Schema: []byte(`{"type":7}`)}},
	} {
		if _, err := r.Start(t.Context(), runner.Request{Prompt: "hi", Form: form}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, not %q", form, err, want)
		}
	}
}

// TestStrictIsWhatLeavesNothingOpen, as OpenAI wants it.
func TestStrictIsWhatLeavesNothingOpen(t *testing.T) {
	type optional struct {
		A int `json:"a,omitempty"`
	}
	for _, c := range []struct {
		format *llm.Format
		strict bool
	}{
		{runner.FormatOf[reading](), true},
		{runner.FormatOf[[]reading](), true},
		{runner.FormatOf[struct{ List []reading }](), true},
		{runner.FormatOf[weatherQuery](), false},
		{runner.FormatOf[struct{ List []optional }](), false},
		{runner.FormatOf[map[string]int](), false},
		{runner.FormatOf[struct{ M map[string]int }](), false},
	} {
		if c.format.Strict != c.strict {
			t.Errorf("strict is %v of %s", c.format.Strict, c.format.Schema)
		}
	}
}
