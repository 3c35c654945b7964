package sqlite

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// BenchmarkList is a page of 50 of 100,000 runs, by each filter there is: a page where what is
// asked for is usual, one where it is what a single old run has, and one where no run has it.
func BenchmarkList(b *testing.B) {
	s := open(b, b.TempDir())
	runs := 100_000
	if testing.Short() {
		runs = 1000
	}
	manyRuns(b, s, runs)
	began := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		name string
		q    timeline.Query
	}{
		{"newest", timeline.Query{}},
		{"oldest", timeline.Query{Oldest: true}},
		{"second half", timeline.Query{Before: fmt.Sprintf("run%05d", runs/2)}},
		{"status", timeline.Query{Status: recovery.StatusFailed}},
		{"model", timeline.Query{Model: "lab/3"}},
		{"model of one", timeline.Query{Model: "lab/rare"}},
		{"kind", timeline.Query{Kind: failure.KindOverloaded}},
		{"kind of none", timeline.Query{Kind: failure.KindTLS}},
		{"kind and model of one", timeline.Query{Kind: failure.KindOverloaded, Model: "lab/rare"}},
		{"decided by", timeline.Query{DecidedBy: "rules"}},
		{"needs you", timeline.Query{SuggestionOpen: true}},
		{"label", timeline.Query{Labels: recovery.Labels{"tenant": "t7"}}},
		{"label of none", timeline.Query{Labels: recovery.Labels{"tenant": "nobody"}}},
		{"text", timeline.Query{Text: "overloaded"}},
		{"text of one", timeline.Query{Text: "needle"}},
		{"text of none", timeline.Query{Text: "nowhere to be found"}},
		{"text of two letters", timeline.Query{Text: "zq"}},
		{"text of a letter", timeline.Query{Text: "ü"}},
		{"usual text and label of none", timeline.Query{Text: "question", Labels: recovery.Labels{"tenant": "nobody"}}},
		{"usual text and label of one", timeline.Query{Text: "question", Labels: recovery.Labels{"only": "one"}}},
		{"usual label and text of one", timeline.Query{Text: "needle", Labels: recovery.Labels{"all": ""}}},
		{"usual text and kind of none", timeline.Query{Text: "question", Kind: failure.KindTLS}},
		{"usual label and kind of none", timeline.Query{Labels: recovery.Labels{"all": ""}, Kind: failure.KindTLS}},
		{"an hour long ago", timeline.Query{Since: began.Add(time.Hour), Until: began.Add(2 * time.Hour)}},
		{"before all", timeline.Query{Until: began}},
		{"after all", timeline.Query{Since: began.Add(1000 * time.Hour)}},
		{"label, text and kind of none", timeline.Query{Kind: failure.KindOverloaded, Text: "nowhere", Labels: recovery.Labels{"tenant": "t7"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := s.List(context.Background(), c.q); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
			b.ReportMetric(took[len(took)-1].Seconds()*1000, "ms-worst")
		})
	}
}

// manyRuns writes n runs, a second apart: one in four failed and was recovered, one in a hundred
// waits for a person, the third of all is another than the rest.
func manyRuns(b *testing.B, s opened, n int) {
	b.Helper()
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider, f.Title, f.Message = "lab", "Lab is overloaded", "It is not you: too many people ask at once. Try again in a minute, or another model."
	write := func(w int) error {
		for i := w; i < n; i += 64 {
			run, model, text := fmt.Sprintf("run%05d", i), fmt.Sprint("lab/", i%5), fmt.Sprintf("Question %d about what is on the table today", i)
			labels := recovery.Labels{"all": "", "tenant": fmt.Sprint("t", i%50)}
			if i == 3 {
				model, text, labels["only"] = "lab/rare", "A needle in the haystack", "one"
			}
			bodies := []recovery.Body{
				recovery.Started{Model: model, Input: []llm.Message{llm.User(text)}, Labels: labels},
				recovery.Began{Attempt: 1, Model: model},
			}
			if i%4 == 3 {
				bodies = append(bodies, recovery.Failed{Attempt: 1, Failure: *f},
					recovery.Decided{Decision: recovery.Decision{By: &recovery.Voter{Plugin: []string{"rules", "auto-recover"}[i/4%2]}}})
			}
			if i%100 == 3 {
				bodies = append(bodies, recovery.Suggested{Suggestion: recovery.Suggestion{ID: "s", SuggestedAction: recovery.ActionRetry, ExpiresAt: time.Unix(1<<32, 0)}})
			} else {
				bodies = append(bodies, recovery.Ended{Status: recovery.StatusCompleted})
			}
			at := time.Unix(1_000_000+int64(i), 0)
			_, err := s.Begin(context.Background(), run, "bench", time.Hour, func(timeline.Lease) []recovery.Event {
				var events []recovery.Event
				for k, body := range bodies {
					events = append(events, recovery.Event{Run: run, Seq: uint64(k + 1), Time: at, Body: body})
				}
				return events
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	spread(b, 64, func(w int, _ func() bool) error { return write(w) })
}
