package rescue

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/headlines.txt anew")

// stories are the golden logs that every fold replays, by name.
func stories(t *testing.T) map[string][]recovery.Event {
	t.Helper()
	files, err := filepath.Glob("../../sdk/conformance/timelines/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d golden logs: %v", len(files), err)
	}
	all := map[string][]recovery.Event{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var golden struct{ Events []recovery.Event }
		if err := json.Unmarshal(data, &golden); err != nil {
			t.Fatal(file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = golden.Events
	}
	return all
}

// TestHeadlines: what every story comes to, in a sentence, is written down.
func TestHeadlines(t *testing.T) {
	all := stories(t)
	files, _ := filepath.Glob("../../sdk/conformance/timelines/*.json")
	var got strings.Builder
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		r, err := of(all[name])
		if err != nil {
			t.Fatal(name, err)
		}
		fmt.Fprintf(&got, "%-24s %s\n", name, r.Headline)
	}
	const path = "testdata/headlines.txt"
	if *rewrite {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got.String() != string(want) {
		t.Errorf("the headlines are others (-rewrite writes them down): %v\n%s", err, got.String())
	}
}

// TestSpansOfEveryStory: after each event spans are in order, each ends after it began and none of a run that is over is open,
// and every attempt that failed has its failure.
func TestSpansOfEveryStory(t *testing.T) {
	for name, events := range stories(t) {
		b := NewBuilder()
		for _, e := range events {
			if err := b.Add(e); err != nil {
				t.Fatal(name, err)
			}
			r := b.Rescue(e.Time)
			last := int64(0)
			for _, s := range r.Spans {
				if s.From < last || s.State != StateOpen && s.To < s.From || s.State == StateOpen && r.Over {
					t.Errorf("%s, event %d: %+v", name, e.Seq, s)
				}
				last = s.From
				if s.Kind == KindAttempt && s.State == StateFailed && (s.Failure == nil || s.Failure.Failure.Kind == "") {
					t.Errorf("%s, event %d: attempt %d failed, and nobody says why", name, e.Seq, s.Attempt.ID)
				}
			}
		}
	}
}

// of is the Rescue at the time of the last event.
func of(events []recovery.Event) (Rescue, error) { return Of(events, events[len(events)-1].Time) }

// TestASuggestionThatHasExpired: nobody is waited for any more, also if no event says that it
// expired.
func TestASuggestionThatHasExpired(t *testing.T) {
	for _, events := range stories(t) {
		for n := range events {
			some := events[:n+1]
			open, err := of(some)
			if err != nil || !open.NeedsYou {
				continue
			}
			late, err := Of(some, some[n].Time.Add(30*24*time.Hour))
			if err != nil || late.NeedsYou || !strings.HasPrefix(open.Headline, "Waits for you") || !strings.HasPrefix(late.Headline, "Failed after") {
				t.Fatalf("%v: %q, and later %q", err, open.Headline, late.Headline)
			}
			return
		}
	}
	t.Fatal("no story has a suggestion")
}

// world writes events, a second after one another.
type world struct {
	events []recovery.Event
	now    time.Time
}

func (w *world) add(bodies ...recovery.Body) {
	for _, b := range bodies {
		w.events = append(w.events, recovery.Event{Run: "r1", Seq: uint64(len(w.events) + 1), Time: w.now, Body: b})
		w.now = w.now.Add(time.Second)
	}
}

const canary = "canary"

func overloaded() failure.Failure {
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider, f.Model, f.HTTPStatus, f.Detail = "a", "a/one", 529, canary+" Overloaded"
	f.Describe(failure.Words{})
	f.Message += canary
	return *f
}

func headers() *llm.Headers {
	return &llm.Headers{Sent: []llm.Header{{Name: "X-Api-Key"}, {Name: "User-Agent", Value: canary}}, SentMore: 2, Received: []llm.Header{{Name: "Server", Value: canary}}}
}

// rescued is a run with a tool, two failures, a losing vote, a switch and an answer.
func rescued() []recovery.Event {
	w := &world{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	p := recovery.DefaultPolicy()
	p.AutoRecover, p.Plugins, p.Models = true, []string{"first", "second"}, []string{"a/one", "b/two"}
	p.Prices = map[string]recovery.Price{"a/one": {Input: 1_000_000, Output: 5_000_000}}
	asks := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: canary}, {Call: &llm.ToolCall{ID: "c1", Name: "look", Args: json.RawMessage(`{"q":"` + canary + `"}`)}}}}
	w.add(
		recovery.Started{Model: "a/one", System: canary, Input: []llm.Message{llm.User(canary)}, Policy: p, Session: canary, Tools: []recovery.ToolDecl{{Tool: llm.Tool{Name: "look"}}}},
		recovery.Claimed{Owner: "o", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "a/one"},
		recovery.Answered{Attempt: 1, Message: asks, Usage: llm.Usage{InputTokens: 100_000, OutputTokens: 4_000}, Stop: llm.StopToolUse},
		recovery.ToolBegan{CallID: "c1", Name: "look"},
		recovery.ToolReturned{CallID: "c1", Result: llm.ToolResult{CallID: "c1", Name: "look", Text: canary}, Outcome: recovery.OutcomeOK},
		recovery.Began{Attempt: 2, Round: 2, Model: "a/one"},
		recovery.Failed{Attempt: 2, Text: canary, Failure: overloaded(), Alternatives: []recovery.Alternative{{Model: "b/two"}}, Headers: headers()},
	)
	const about = recovery.Occasion("run_error:8")
	w.add(
		recovery.Voted{Occasion: about, Vote: recovery.Vote{Plugin: "first", Action: recovery.ActionSwitchModel, NewModel: "no/such", Reason: canary}},
		recovery.Voted{Occasion: about, Vote: recovery.Vote{Plugin: "second", Action: recovery.ActionRetry, Delay: 500, Reason: canary, Restrict: &recovery.Restrict{Never: []string{"c/*"}}}},
		recovery.Decided{Occasion: about, Decision: recovery.Decision{Action: recovery.ActionRetry, Delay: 500, Reason: canary, By: &recovery.Voter{Plugin: "second", Rank: 1, Reason: canary}, Ignored: []string{`first: "no/such" is not one of the alternatives`}}},
		recovery.Began{Attempt: 3, Round: 2, Try: 1, Model: "a/one", Retry: true},
		recovery.Failed{Attempt: 3, Failure: overloaded()},
		recovery.Began{Attempt: 4, Round: 2, Try: 2, Model: "b/two"},
		recovery.Answered{Attempt: 4, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: canary}}, Model: "b/two"}, Usage: llm.Usage{OutputTokens: 7}, Stop: llm.StopEnd},
		recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"},
	)
	return w.events
}

func TestARescue(t *testing.T) {
	r, err := of(rescued())
	if err != nil {
		t.Fatal(err)
	}
	if want := "Rescued in 7 s: 1 retry, 1 switch, 0 tools repeated, $0.12 kept"; r.Headline != want {
		t.Errorf("%q, not %q", r.Headline, want)
	}
	if len(r.Spans) != 5 || r.Figures.Attempts != 4 || r.Figures.Failed != 2 {
		t.Fatalf("%d spans, %+v", len(r.Spans), r.Figures)
	}
	failed := r.Spans[2]
	f := failed.Failure
	if failed.From != 6000 || failed.To != 7000 || failed.Attempt.Messages != 3 || f == nil || len(f.Votes) != 2 || f.Votes[0].Won || !f.Votes[1].Won {
		t.Fatalf("%+v %+v", failed, f)
	}
	if !strings.Contains(f.Votes[0].Lost, "not one of the alternatives") || f.Votes[1].Forbids != "c/*" || f.Decided != "Retry in 500 ms, by second: canary." || len(f.Evidence) == 0 {
		t.Errorf("%q, %q, %v", f.Votes[0].Lost, f.Decided, f.Evidence)
	}
	if !reflect.DeepEqual(failed.Attempt.Headers, headers()) || r.Spans[3].Attempt.Headers != nil {
		t.Errorf("%+v", failed.Attempt.Headers)
	}
	if len(r.Asked.Messages) != 4 || r.Asked.Tools[0] != "look" {
		t.Errorf("%+v", r.Asked)
	}
}

// TestWithoutTexts: nothing that somebody wrote is left, and the original is as it was.
func TestWithoutTexts(t *testing.T) {
	r, err := of(rescued())
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(r)
	if err != nil || strings.Count(string(before), canary) < 15 {
		t.Fatalf("%v: %s", err, before)
	}
	hidden := r.WithoutTexts()
	after, err := json.Marshal(hidden)
	if err != nil || strings.Contains(string(after), canary) {
		t.Errorf("%v: %s", err, after)
	}
	if hidden.Headline != r.Headline || !hidden.Redacted || hidden.Spans[2].Failure.Decided != "Retry in 500 ms, by second." {
		t.Errorf("%+v", hidden)
	}
	if h := hidden.Spans[2].Attempt.Headers; h.Sent[0] != (llm.Header{Name: "X-Api-Key"}) || h.Sent[1].Value != "[6 characters]" || h.SentMore != 2 {
		t.Errorf("%+v", h)
	}
	if again, err := json.Marshal(r); err != nil || string(again) != string(before) {
		t.Error("the original has changed")
	}
}

// TestNoStoryTellsTextsOnceHidden: of each story, with its texts replaced, nothing that was said is left.
func TestNoStoryTellsTextsOnceHidden(t *testing.T) {
	for name, events := range stories(t) {
		r, err := of(events)
		if err != nil {
			t.Fatal(name, err)
		}
		said := map[string]bool{r.Title: true, r.Answer: true}
		for _, m := range r.Asked.Messages {
			said[m.Text] = true
		}
		data, err := json.Marshal(r.WithoutTexts())
		if err != nil {
			t.Fatal(err)
		}
		for text := range said {
			if len(text) > 12 && strings.Contains(string(data), text) {
				t.Errorf("%s tells %q", name, text)
			}
		}
	}
}

// TestManySpans: of a long run the end is told, and what is left out is counted.
func TestManySpans(t *testing.T) {
	w := &world{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	w.add(recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hello")}, Policy: recovery.DefaultPolicy()}, recovery.Claimed{Owner: "o", Epoch: 1})
	for i := range maxSpans + 10 {
		w.add(recovery.Began{Attempt: uint64(i + 1), Round: 1, Try: i, Model: "a/one", Retry: i > 0}, recovery.Failed{Attempt: uint64(i + 1), Failure: overloaded()})
	}
	r, err := of(w.events)
	if err != nil || len(r.Spans) != maxSpans || r.LeftSpans != 10 || r.Spans[0].Attempt.ID != 11 || r.Headline != "Being rescued: 2,009 retries" {
		t.Errorf("%v: %d spans, %d left out, %q", err, len(r.Spans), r.LeftSpans, r.Headline)
	}
}
