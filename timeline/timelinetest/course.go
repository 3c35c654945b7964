package timelinetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// courses are runs that differ in everything that a query can ask for, the oldest first.
func courses() map[string][]recovery.Body {
	overloaded := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	overloaded.Provider, overloaded.Title, overloaded.Message = "lab", "Lab is OVERLOADED", "Übermäßig viele\nAnfragen."
	used := llm.Usage{InputTokens: 1000, OutputTokens: 500}
	policy := recovery.Policy{Models: []string{"lab/one", "lab/two"}, Prices: map[string]recovery.Price{
		"lab/one": {Input: 1_000_000, Output: 2_000_000}, "lab/two": {Input: 2_000_000, Output: 2_000_000}, "else/where": {Input: 7},
	}}
	begin := func(model, text string) recovery.Body {
		return recovery.Started{Model: model, Input: []llm.Message{llm.User(text)}, Policy: policy}
	}
	decided := recovery.Decided{Decision: recovery.Decision{Action: recovery.ActionRetry, By: &recovery.Voter{Plugin: "rules"}}}
	offer := recovery.Suggested{Suggestion: recovery.Suggestion{
		SuggestedAction: recovery.ActionRetry, ID: "s", ExpiresAt: epoch.Add(24 * time.Hour), Actions: []recovery.Button{
			{ID: "a1", Kind: recovery.ButtonSwitchModel, Label: "Switch to two", Effect: recovery.EffectRunner, Model: "lab/two"},
			{ID: "a2", Kind: recovery.ButtonCopyDetails, Label: "Copy", Effect: recovery.EffectClient},
			{ID: "a3", Kind: recovery.ButtonStop, Label: "Stop", Effect: recovery.EffectRunner},
		},
	}}
	failed := recovery.Failed{Attempt: 1, Failure: *overloaded, Usage: used}
	return map[string][]recovery.Body{
		"r1": {begin("lab/one", "Plan a TRIP"), recovery.Began{Attempt: 1, Model: "lab/one"}, recovery.Answered{Attempt: 1, Usage: used}, recovery.Ended{Status: recovery.StatusCompleted}},
		"r2": {
			begin("lab/one", "100% of_it"),
			recovery.Began{Attempt: 1, Model: "lab/one"},
			failed, decided,
			recovery.Began{Attempt: 2, Model: "lab/two"},
			recovery.Answered{Attempt: 2, Usage: used},
			recovery.Ended{Status: recovery.StatusCompleted},
		},
		"r3": {begin("lab/one", "Write a letter"), recovery.Began{Attempt: 1, Model: "lab/one"}, failed, recovery.Decided{}, offer},
		"r4": {begin("lab/two", "Write a poem"), recovery.Began{Attempt: 1, Model: "lab/two"}, failed, decided, offer, recovery.Accepted{Suggestion: "s", Action: "a1"}},
	}
}

// courseLog writes courses, each run an hour after the one before it.
func courseLog(t *testing.T, log timeline.Log) {
	all := courses()
	for i, run := range []string{"r1", "r2", "r3", "r4"} {
		l := claim(t, log, run, "a")
		for n, body := range all[run] {
			seq := uint64(n) + 1
			e := with(run, seq, body)
			e.Time = epoch.Add(time.Duration(i)*time.Hour + time.Duration(n)*time.Second)
			appendAll(t, log, l, seq-1, e)
		}
	}
}

func testCourse(t *testing.T, log timeline.Log) {
	courseLog(t, log)
	testCourses(t, log)
	list, err := log.List(t.Context(), timeline.Query{Oldest: true})
	if err != nil || len(list) != 4 {
		t.Fatalf("list: %+v, %v", list, err)
	}
	prices := map[string]recovery.Price{"lab/one": {Input: 1_000_000, Output: 2_000_000}, "lab/two": {Input: 2_000_000, Output: 2_000_000}}
	offers := []timeline.Offer{{ID: "a1", Kind: recovery.ButtonSwitchModel, Model: "lab/two", Label: "Switch to two"}, {ID: "a3", Kind: recovery.ButtonStop, Label: "Stop"}}
	for i, want := range []timeline.Course{
		{Attempts: 1, Tokens: 1500, Microdollars: 2000},
		{Provider: "lab", Attempts: 2, Failed: 1, Tokens: 3000, Wasted: 1500, Microdollars: 5000, WastedMicrodollars: 2000},
		{Provider: "lab", Attempts: 1, Failed: 1, Tokens: 1500, Wasted: 1500, Microdollars: 2000, WastedMicrodollars: 2000, Offers: offers, Prices: prices},
		{Provider: "lab", Attempts: 1, Failed: 1, Tokens: 1500, Wasted: 1500, Microdollars: 3000, WastedMicrodollars: 3000, Prices: prices},
	} {
		if got := list[i].Course.Course(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, not %+v", list[i].Run, got, want)
		}
	}
	for i, want := range []struct{ kind, problem, by string }{
		{},
		{"overloaded", "Lab is OVERLOADED\nÜbermäßig viele Anfragen.", "rules"},
		{"overloaded", "Lab is OVERLOADED\nÜbermäßig viele Anfragen.", ""},
		{"overloaded", "Lab is OVERLOADED\nÜbermäßig viele Anfragen.", timeline.DecidedByPerson},
	} {
		if s := list[i]; string(s.Kind) != want.kind || s.Problem != want.problem || s.DecidedBy != want.by {
			t.Errorf("%s: %q %q %q", s.Run, s.Kind, s.Problem, s.DecidedBy)
		}
	}
}

// testCourses tests lists by how runs went.
func testCourses(t *testing.T, log timeline.Log) {
	t.Helper()
	for _, c := range []struct {
		q    timeline.Query
		want []string
	}{
		{timeline.Query{Oldest: true}, []string{"r1", "r2", "r3", "r4"}},
		{timeline.Query{Oldest: true, Before: "r2", Limit: 1}, []string{"r3"}},
		{timeline.Query{Model: "lab/two"}, []string{"r4", "r2"}},
		{timeline.Query{Kind: failure.KindOverloaded}, []string{"r4", "r3", "r2"}},
		{timeline.Query{Kind: failure.KindOverloaded, Before: "r4", SuggestionOpen: true}, []string{"r3"}},
		{timeline.Query{Kind: failure.KindAuth}, nil},
		{timeline.Query{DecidedBy: "rules"}, []string{"r2"}},
		{timeline.Query{DecidedBy: timeline.DecidedByPerson}, []string{"r4"}},
		{timeline.Query{Since: epoch.Add(time.Hour)}, []string{"r4", "r3", "r2"}},
		{timeline.Query{Until: epoch.Add(time.Hour)}, []string{"r1"}},
		{timeline.Query{Since: epoch.Add(time.Hour), Until: epoch.Add(3 * time.Hour)}, []string{"r3", "r2"}},
		{timeline.Query{Text: "trip"}, []string{"r1"}},
		{timeline.Query{Text: "WRITE A"}, []string{"r4", "r3"}},
		{timeline.Query{Text: "is overloaded", Oldest: true}, []string{"r2", "r3", "r4"}},
		{timeline.Query{Text: "ÜBERMÄSSIG"}, nil},
		{timeline.Query{Text: "ÜBERMÄßIG viele"}, []string{"r4", "r3", "r2"}},
		{timeline.Query{Text: "model_provider_unavailable", Status: recovery.StatusFailed}, []string{"r3"}},
		{timeline.Query{Text: "100% of_it"}, []string{"r2"}},
		{timeline.Query{Text: "%"}, []string{"r2"}},
		{timeline.Query{Text: "'; --"}, nil},
	} {
		list, err := log.List(t.Context(), c.q)
		var got []string
		for _, s := range list {
			got = append(got, s.Run)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, not %v (%v)", c.q, got, c.want, err)
		}
	}
}
