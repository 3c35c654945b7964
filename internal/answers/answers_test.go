package answers_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/answers"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

var answersNow = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

// asking writes a run whose suggestion is open until a time.
func asking(t *testing.T, log timeline.Log, run, provider string, kind failure.Kind, until time.Time, buttons ...recovery.Button) {
	t.Helper()
	f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider, f.Title = provider, provider+" fails"
	at := answersNow.Add(-time.Hour)
	_, err := log.Begin(t.Context(), run, "a", time.Hour, func(timeline.Lease) []recovery.Event {
		return []recovery.Event{
			{Run: run, Seq: 1, Time: at, Body: recovery.Started{Model: provider + "/one"}},
			{Run: run, Seq: 2, Time: at, Body: recovery.Failed{Failure: *f}},
			{Run: run, Seq: 3, Time: at, Body: recovery.Suggested{Suggestion: recovery.Suggestion{
				ID: run + "-s", SuggestedAction: recovery.ActionRetry, ExpiresAt: until, Actions: buttons,
			}}},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func button(id, kind, model string) recovery.Button {
	return recovery.Button{ID: id, Kind: kind, Label: kind + " " + model, Model: model, Effect: recovery.EffectRunner}
}

// openHouse is a log of runs with open suggestions for two causes, and two that cannot be answered.
func openHouse(t *testing.T) *timeline.Journal {
	log := timeline.NewMemory()
	t.Cleanup(func() { _ = log.Close() })
	later := answersNow.Add(time.Hour)
	retry, two, stop := button("a1", recovery.ButtonRetry, ""), button("a2", recovery.ButtonSwitchModel, "b/two"), button("a3", recovery.ButtonStop, "")
	asking(t, log, "r1", "a", failure.KindOverloaded, later, retry, two, stop)
	asking(t, log, "r2", "a", failure.KindOverloaded, later.Add(time.Hour), two, retry, stop)
	asking(t, log, "r3", "b", failure.KindOverloaded, later, retry, stop)
	asking(t, log, "r4", "a", failure.KindAuth, later, stop)
	asking(t, log, "r5", "a", failure.KindOverloaded, answersNow, retry, stop) // expired
	return log
}

// sentTo are the actions that were sent to a run.
func sentTo(t *testing.T, log timeline.Log, run string) (actions []string) {
	t.Helper()
	commands, err := log.Inbox(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		a, ok := c.Body.(recovery.Accepted)
		if !ok || a.Suggestion != run+"-s" {
			t.Errorf("%s: %+v", run, c)
		}
		actions = append(actions, a.Action)
	}
	return actions
}

func TestAnswersGoToThoseThatAreMeant(t *testing.T) {
	for _, c := range []struct {
		what string
		a    answers.Request
		want []string // the runs that are sent a command, in order; the newest run's result comes first
		more bool
	}{
		{"one kind of one provider", answers.Request{Query: timeline.Query{Kind: failure.KindOverloaded}, Provider: "a", Action: recovery.ButtonRetry}, []string{"r2 a1 sent", "r1 a1 sent"}, false},
		{"a switch", answers.Request{Action: recovery.ButtonSwitchModel, Model: "b/two"}, []string{"r4  none", "r3  none", "r2 a2 sent", "r1 a2 sent"}, false},
		{"a switch to what nobody offers", answers.Request{Action: recovery.ButtonSwitchModel, Model: "c/three", Runs: []string{"r1"}}, []string{"r1  none"}, false},
		{"what is suggested", answers.Request{}, []string{"r4  none", "r3 a1 sent", "r2 a2 sent", "r1 a1 sent"}, false},
		{"some runs", answers.Request{Runs: []string{"r3", "r5", "nobody"}, Action: recovery.ButtonStop}, []string{"r3 a3 sent"}, false},
		{"a preview", answers.Request{Query: timeline.Query{Kind: failure.KindAuth}, Action: recovery.ButtonStop, Preview: true}, []string{"r4 a3 would"}, false},
		{"not all", answers.Request{Query: timeline.Query{Limit: 1}, Action: recovery.ButtonStop}, []string{"r4 a3 sent"}, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			log := openHouse(t)
			results, more, err := answers.All(t.Context(), log, c.a, answersNow, nil)
			var got []string
			for _, r := range results {
				got = append(got, fmt.Sprintf("%s %s %s", r.Run.Run, r.Offer.ID, r.State))
				sent := sentTo(t, log, r.Run.Run)
				if r.State == answers.Sent != slices.Equal(sent, []string{r.Offer.ID}) {
					t.Errorf("%s was sent %q", got[len(got)-1], sent)
				}
			}
			if err != nil || more != c.more || !slices.Equal(got, c.want) {
				t.Errorf("%q, more %t, %v", got, more, err)
			}
		})
	}
}

func TestOpenCauses(t *testing.T) {
	causes, err := answers.Causes(t.Context(), openHouse(t), timeline.Query{}, answersNow)
	if err != nil || len(causes) != 3 {
		t.Fatalf("%+v, %v", causes, err)
	}
	first := causes[0]
	if first.Kind != failure.KindOverloaded || first.Provider != "a" || first.Runs != 2 || first.Title != "a fails" ||
		!first.Since.Equal(answersNow.Add(-time.Hour)) || !first.Expires.Equal(answersNow.Add(time.Hour)) {
		t.Errorf("%+v", first)
	}
	var offers []string
	for _, o := range first.Offers {
		offers = append(offers, fmt.Sprint(o.Kind, " ", o.Model, " ", o.Runs))
	}
	slices.Sort(offers)
	if !slices.Equal(offers, []string{"retry  2", "stop  2", "switch_model b/two 2"}) {
		t.Errorf("%q", offers)
	}
}

// dying is a log whose process dies at the n-th command: that one is durable but not acknowledged,
// and the later ones are lost.
type dying struct {
	timeline.Log
	left atomic.Int32
}

func (d *dying) Send(ctx context.Context, run string, c timeline.Command) (uint64, error) {
	switch left := d.left.Add(-1); {
	case left < 0:
		return 0, timeline.ErrClosed
	case left == 0:
		_, _ = d.Log.Send(ctx, run, c)
		return 0, timeline.ErrClosed
	}
	return d.Log.Send(ctx, run, c)
}

// TestAnswersOfAProcessThatDiesAreNeitherLostNorDoubled: however often the request is repeated,
// each suggestion is answered once.
func TestAnswersOfAProcessThatDiesAreNeitherLostNorDoubled(t *testing.T) {
	log := timeline.NewMemory()
	defer log.Close()
	const n = 1000
	for i := range n {
		asking(t, log, fmt.Sprint("r", i), "a", failure.KindOverloaded, answersNow.Add(time.Hour), button("a1", recovery.ButtonRetry, ""))
	}
	first := &dying{Log: log}
	first.left.Store(n / 3)
	told := 0
	results, more, err := answers.All(t.Context(), first, answers.Request{Action: recovery.ButtonRetry}, answersNow, func(answers.Result) { told++ })
	failed := 0
	for _, r := range results {
		if r.State == answers.Failed && r.Err != nil {
			failed++
		}
	}
	if err != nil || more || len(results) != n || told != n || failed != n-n/3+1 {
		t.Errorf("%d results, %d of them failed, %d were told, more %t, %v", len(results), failed, told, more, err)
	}
	for range 2 {
		results, _, err = answers.All(t.Context(), log, answers.Request{Action: recovery.ButtonRetry}, answersNow, nil)
		if err != nil || len(results) != n || slices.ContainsFunc(results, func(r answers.Result) bool { return r.State != answers.Sent }) {
			t.Errorf("%d results, %v", len(results), err)
		}
	}
	for i := range n {
		if sent := sentTo(t, log, fmt.Sprint("r", i)); len(sent) != 1 {
			t.Errorf("r%d was sent %q", i, sent)
		}
	}
}

// TestNoApprovalWithOthers: answering all suggestions about failures approves no tool call;
// approvals are listed among the causes, without a button. An explicit approval is sent.
func TestNoApprovalWithOthers(t *testing.T) {
	log := timeline.NewMemory()
	t.Cleanup(func() { _ = log.Close() })
	_, err := log.Begin(t.Context(), "r", "a", time.Hour, func(timeline.Lease) []recovery.Event {
		return []recovery.Event{
			{Run: "r", Seq: 1, Time: answersNow, Body: recovery.Started{Model: "a/one"}},
			{Run: "r", Seq: 2, Time: answersNow, Body: recovery.Suggested{CallID: "c1", Suggestion: recovery.Suggestion{
				ID: "s", SuggestedAction: recovery.ActionApprove, ExpiresAt: answersNow.Add(time.Hour), Error: failure.Failure{Title: "pay waits for your approval"},
				Actions: []recovery.Button{button("a1", recovery.ButtonRunTool, ""), button("a2", recovery.ButtonRefuseTool, ""), button("a3", recovery.ButtonStop, "")},
			}}},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[string]string{"": answers.None, recovery.ButtonRunTool: answers.Would} {
		results, _, err := answers.All(t.Context(), log, answers.Request{Action: action, Preview: true}, answersNow, nil)
		if err != nil || len(results) != 1 || results[0].State != want {
			t.Errorf("%q: %+v, %v", action, results, err)
		}
	}
	causes, err := answers.Causes(t.Context(), log, timeline.Query{}, answersNow)
	if err != nil || len(causes) != 1 || causes[0].Title != "pay waits for your approval" || causes[0].Kind != "" || len(causes[0].Offers) != 0 {
		t.Errorf("the causes are %+v, %v", causes, err)
	}
}
