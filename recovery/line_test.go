package recovery

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

func overloadedRun() *Run {
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider, f.Model, f.HTTPStatus = "anthropic", "anthropic/m", 529
	f.Describe(failure.Words{})
	return &Run{
		ID: "r1", Seq: 7, Model: "anthropic/m", Policy: DefaultPolicy(),
		Call: Call{Attempts: 2, Retries: 1, Tried: []Tried{{Model: "anthropic/m"}}},
		Open: &OpenFailure{Seq: 7, At: begin, Failure: *f, Decision: &Decision{Action: ActionRetry}},
	}
}

func TestLines(t *testing.T) {
	r := overloadedRun()
	wait := Waiting{ID: "w", For: WaitTime, Until: begin.Add(4 * time.Second), Model: "anthropic/m", Retry: 2, Of: 3}
	reset, toOther := wait, wait
	reset.For, reset.Until = WaitReset, begin.Add(3*time.Hour)
	toOther.Model = "openai/gpt-5.2"
	s := Suggestion{ID: "s", Title: "T", Message: "M.", Actions: []Button{{ID: "a1", Kind: ButtonRetry, Label: "Retry"}, {ID: "a2", Kind: ButtonSwitchModel, Label: "Switch to x"}}}
	r.Suggestion = &s
	over := overloadedRun()
	over.offer = suggestionOver
	switched := overloadedRun()
	switched.Model, switched.Call.Retries = "openai/gpt-5.2", 2
	once := overloadedRun()
	for _, tt := range []struct {
		r    *Run
		b    Body
		want string
	}{
		{r, Failed{Failure: r.Open.Failure}, "Anthropic is overloaded. Its servers are full (529); this is not your usage limit."},
		{r, wait, "Anthropic is overloaded. Retrying in 4 s… (attempt 2/3)"},
		{r, reset, "Waiting for Anthropic until 12:00 UTC on March 1."},
		{r, toOther, "Anthropic is overloaded. Switching to openai/gpt-5.2 in 4 s…"},
		{r, Began{Model: "openai/gpt-5.2"}, "Anthropic is overloaded. Switching to openai/gpt-5.2…"},
		{r, Began{Model: "anthropic/m", Retry: true}, "Anthropic is overloaded. Retrying… (attempt 2/3)"},
		{&Run{}, Began{Model: "anthropic/m"}, ""},
		{r, Suggested{Suggestion: s}, "T. M. Actions: 1 Retry, 2 Switch to x"},
		{r, Accepted{Suggestion: "s", Action: "a2"}, "You chose: Switch to x"},
		{r, Accepted{Suggestion: "s", Action: "a2", Model: "y"}, "You chose: Switch to y"},
		{r, Accepted{Suggestion: "other", Action: "a2"}, ""},
		{switched, Answered{}, "Recovered after 2 retries · now using openai/gpt-5.2"},
		{once, Answered{}, "Recovered after 1 retry"},
		{&Run{}, Answered{}, ""},
		{r, CancelRequested{}, ""},
		{r, Ended{Status: StatusCancelled}, "Stopped."},
		{&Run{Attempt: &Attempt{Text: "Hello"}}, Ended{Status: StatusCancelled}, "Stopped. The text above is kept."},
		{over, Ended{Status: StatusFailed}, "This suggestion has expired. Send your message again."},
		{r, Ended{Status: StatusFailed}, "Failed. Anthropic is overloaded."},
		{r, Ended{Status: StatusCompleted}, "Done."},
		{r, ToolReturned{Outcome: OutcomeUnknown, Result: llm.ToolResult{Name: "pay"}}, "pay may or may not have worked. The connection broke after pay was sent. It may already have taken effect; check before running it again."},
		{r, ToolReturned{Outcome: OutcomeOK}, ""},
		{r, Noted{Topic: TopicText}, ""},
		{r, Repaired{Model: "a/b", Repairs: []llm.Repair{{Kind: llm.RepairThinking, Count: 4}}}, ""},
		{r, Repaired{Model: "a/b", Repairs: []llm.Repair{{Kind: llm.RepairTemplate, Count: 1}}}, "The answer of a/b ended in a special token of its template, which was taken off."},
		{r, Repaired{Model: "a/b", Repairs: []llm.Repair{{Kind: llm.RepairImage, Count: 1}}}, "a/b takes no pictures; it is told that one was left out."},
		{r, Repaired{Model: "a/b", Repairs: []llm.Repair{{Kind: llm.RepairResultMissing, Count: 2}}}, "a/b is told that 2 tool calls have no result."},
	} {
		if got := Line(tt.r, tt.b); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.b.eventType(), got, tt.want)
		}
	}
}

func TestLinesAreShort(t *testing.T) {
	long := strings.Repeat("ö\n", 3000)
	f := failure.Failure{Kind: failure.KindInvalidRequest, Title: long, Message: long}
	r := &Run{Open: &OpenFailure{Failure: f}, Model: long}
	button := Button{Label: long}
	for _, b := range []Body{Failed{Failure: f}, Waiting{Model: "x" + long}, Began{Model: "x" + long}, Suggested{Suggestion: Suggestion{Title: long, Message: long, Actions: []Button{button, button}}}} {
		if line := Line(r, b); line == "" || len(line) > MaxText || !utf8.ValidString(line) || strings.Contains(line, "\n") {
			t.Errorf("%s: %d bytes: %q", b.eventType(), len(line), line)
		}
	}
}

// TestTheHeartsOwnFailuresHaveWords: nobody else gives them any.
func TestTheHeartsOwnFailuresHaveWords(t *testing.T) {
	r := &Run{ID: "r1", Seq: 3, StartedAt: begin, LastStepAt: begin, Last: begin.Add(2 * time.Minute), Model: "anthropic/m", LastStep: "web_search", Policy: DefaultPolicy()}
	r.Policy.Timeouts.Step, r.expired = 120_000, failure.TimerStep
	failed, ok := Next(r)[0].Record.(Failed)
	if want := "No progress for 2 min. Last action: web_search. The task may be stuck. Retry, or ask for a simpler approach."; !ok || failed.Failure.Line() != want {
		t.Errorf("%q, want %q", failed.Failure.Line(), want)
	}
	r.expired, r.Policy.Budget.Tokens, r.Spent.Tokens, r.Last = "", 10_000, 12_000, begin
	failed, ok = Next(r)[0].Record.(Failed)
	if want := "The budget of this run is used up. It has used 12,000 of 10,000 tokens. The work so far is kept."; !ok || failed.Failure.Line() != want {
		t.Errorf("%q, want %q", failed.Failure.Line(), want)
	}
	r.Policy.Budget.Tokens, r.Spent = 700, Budget{}
	failed, ok = r.permit("a/one", Budget{Tokens: 1200})[0].Record.(Failed)
	if want := "The budget of this run is too small for the next call. It needs about 1,200 tokens, and the budget is 700 tokens. The work so far is kept."; !ok || failed.Failure.Line() != want {
		t.Errorf("%q, want %q", failed.Failure.Line(), want)
	}
	if f := r.expiry(); f.Kind != failure.KindRunTimeout {
		t.Errorf("%s", f.Kind)
	}
}
