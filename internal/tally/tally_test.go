package tally

import (
	"fmt"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

func tomorrow(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, at.Location())
}

// play passes bodies to t, one a second; spent is what the run has used after each.
func play(t *Tally, run *recovery.Run, at time.Time, bodies ...recovery.Body) {
	for i, b := range bodies {
		t.Happened(run, recovery.Event{Run: run.ID, Seq: uint64(i + 1), Time: at.Add(time.Duration(i) * time.Second), Body: b})
	}
}

func TestCallsAreCounted(t *testing.T) {
	count := New(noon, tomorrow)
	run := &recovery.Run{ID: "r1", Model: "acme/fable"}
	for i := range 4 {
		play(count, run, noon, recovery.Began{Attempt: uint64(i + 1), Model: "acme/fable"})
		if m := count.Models(noon)[0]; m.InAir != 1 {
			t.Errorf("%d calls are in the air", m.InAir)
		}
		run.Spent.Microdollars += 250
		if i == 0 {
			play(count, run, noon, recovery.Failed{Attempt: 1, Failure: failure.Failure{Kind: "made up"}})
			continue
		}
		play(count, run, noon, recovery.Answered{Attempt: uint64(i + 1), FirstEvent: failure.Millis(100 * i)})
	}
	play(count, run, noon, recovery.Began{Attempt: 5, Model: "acme/tale"})
	count.Left(run)
	list := count.Models(noon)
	if len(list) != 2 || list[0].Name != "acme/fable" || list[1].Name != "acme/tale" || list[1].InAir != 0 || list[1].Calls != 0 {
		t.Fatalf("%+v", list)
	}
	m := list[0]
	if m.Calls != 4 || len(m.Kinds) != 1 || m.Kinds["unknown"] != 1 || m.InAir != 0 || m.P50 != 200 || m.P95 != 200 || m.Spent.Microdollars != 1000 {
		t.Errorf("%+v", m)
	}

	// Spending is the day's, while calls are those of the last 24 hours.
	if m := count.Models(noon.Add(13 * time.Hour))[0]; m.Spent != (recovery.Budget{}) || m.Calls != 4 {
		t.Errorf("the next day: %+v", m)
	}
	if m := count.Models(noon.Add(25 * time.Hour))[0]; m.Calls != 0 || len(m.Kinds) != 0 {
		t.Errorf("a day later: %+v", m)
	}
	if at := count.Since(noon.Add(time.Hour)); !at.Equal(noon) {
		t.Errorf("since %v", at)
	}
	if at := count.Since(noon.Add(100 * time.Hour)); !at.Equal(noon.Add(77 * time.Hour)) {
		t.Errorf("since %v", at)
	}
}

// TestCallsOfAnotherProcess: their ends are counted here, and their cost is not.
func TestCallsOfAnotherProcess(t *testing.T) {
	count := New(noon, tomorrow)
	run := &recovery.Run{ID: "r1", Model: "acme/fable", Spent: recovery.Budget{Tokens: 5000}}
	play(count, run, noon, recovery.Failed{Attempt: 1, Failure: failure.Failure{Kind: failure.KindUnavailable}}, recovery.Failed{Failure: failure.Failure{Kind: failure.KindRunTimeout}})
	if m := count.Models(noon)[0]; m.Calls != 1 || m.Kinds["unavailable"] != 1 || m.Spent.Tokens != 0 {
		t.Errorf("%+v", m)
	}
}

func TestVotesAreCounted(t *testing.T) {
	count := New(noon, tomorrow)
	run := &recovery.Run{ID: "r1", Open: &recovery.OpenFailure{Seq: 7, Votes: []recovery.Vote{
		{Plugin: "winner", Action: recovery.ActionRetry},
		{Plugin: "like", Action: recovery.ActionRetry, Delay: 100},
		{Plugin: "other", Action: recovery.ActionFail},
		{Plugin: "quiet"},
		{Plugin: "dead", Error: "gone"},
	}}}
	about := run.Open.Occasion()
	early := recovery.Voted{Occasion: about, Vote: recovery.Vote{Plugin: "early", Shadow: true, Action: recovery.ActionSwitchModel, NewModel: "acme/tale"}}
	late := recovery.Voted{Occasion: about, Vote: recovery.Vote{Plugin: "late", Shadow: true, Action: recovery.ActionRetry}}
	stale := recovery.Voted{Occasion: "run_error/3", Vote: recovery.Vote{Plugin: "stale", Shadow: true, Action: recovery.ActionRetry}}
	play(count, run, noon, stale, early, recovery.Decided{Occasion: about, Decision: recovery.Decision{Action: recovery.ActionRetry, By: &recovery.Voter{Plugin: "winner"}}}, late)
	want := map[string]Votes{
		"winner": {Won: 1}, "like": {Agreed: 1}, "other": {Overruled: 1}, "quiet": {Silent: 1}, "dead": {Failed: 1}, "early": {TrialDisagreed: 1}, "late": {TrialAgreed: 1},
	}
	if got := count.Votes(noon); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v", got)
	}
}

// TestWhatIsCountedIsBounded: a run that names a thousand models leaves no more than the maximum.
func TestWhatIsCountedIsBounded(t *testing.T) {
	count := New(noon, tomorrow)
	for i := range 1000 {
		run := &recovery.Run{ID: fmt.Sprint("r", i)}
		play(count, run, noon.Add(time.Duration(i)*time.Minute), recovery.Began{Attempt: 1, Model: fmt.Sprintf("acme/%04d", i)}, recovery.Answered{Attempt: 1})
		count.Left(run)
	}
	list := count.Models(noon.Add(1000 * time.Minute))
	if len(list) != most || list[len(list)-1].Name != "acme/0999" || len(count.driven) != 0 {
		t.Errorf("%d models, %d runs", len(list), len(count.driven))
	}
}
