package timelinetest

import (
	"slices"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// needing begins runs that differ in what they need of a machine, due one after another, and
// releases them.
func needing(t *testing.T, log timeline.Log) {
	t.Helper()
	for i, one := range []struct {
		run   string
		needs recovery.Labels
	}{
		{"any", nil},
		{"builds", recovery.Labels{"files": "builds"}},
		{"both", recovery.Labels{"files": "builds", "gpu": `a "100" é\`}},
	} {
		l := claim(t, log, one.run, "a")
		s := started(one.run, one.run, "hi")
		body, _ := s.Body.(recovery.Started)
		body.Needs, body.Session = one.needs, ""
		s.Body, s.Time = body, epoch.Add(time.Duration(i)*time.Second)
		appendAll(t, log, l, 0, s)
		release(t, log, l)
	}
}

// testListNeeds: a machine gets only the due runs whose needs it meets.
func testListNeeds(t *testing.T, log timeline.Log) {
	needing(t, log)
	due := epoch.Add(time.Hour)
	wantRuns(t, log, timeline.Query{Due: due}, "any", "builds", "both")
	wantRuns(t, log, timeline.Query{Due: due, Able: recovery.Labels{}}, "any")
	wantRuns(t, log, timeline.Query{Due: due, Able: recovery.Labels{"files": "other", "gpu": "builds"}}, "any")
	wantRuns(t, log, timeline.Query{Due: due, Able: recovery.Labels{"files": "builds", "more": "x"}}, "any", "builds")
	wantRuns(t, log, timeline.Query{Due: due, Able: recovery.Labels{"files": "builds", "gpu": `a "100" é\`}}, "any", "builds", "both")
	wantRuns(t, log, timeline.Query{Due: due, Needing: true}, "builds", "both")
	wantRuns(t, log, timeline.Query{Needing: true}, "both", "builds")
	wantRuns(t, log, timeline.Query{Able: recovery.Labels{}}, "any")
	list, err := log.List(t.Context(), timeline.Query{Needing: true, Limit: 1})
	if err != nil || len(list) != 1 || list[0].Needs.Labels().String() != `files=builds gpu=a "100" é\` {
		t.Errorf("%+v, %v", list, err)
	}
}

// ClaimsByNeeds tests a timeline.BulkClaimer store: nobody gets a run that its machine cannot
// drive.
func ClaimsByNeeds(t *testing.T, store timeline.Store) {
	t.Helper()
	needing(t, timeline.NewJournal(store)) // the caller closes its store
	bulk := as[timeline.BulkClaimer](t, store)
	for _, one := range []struct {
		able recovery.Labels
		want []string
	}{
		{recovery.Labels{}, []string{"any"}},
		{recovery.Labels{"gpu": "a"}, nil},
		{recovery.Labels{"files": "builds"}, []string{"builds"}},
		{nil, []string{"both"}},
	} {
		heads, err := bulk.ClaimDue(t.Context(), "b", time.Hour, epoch.Add(time.Hour), false, one.able, 10)
		var got []string
		for _, h := range heads {
			got = append(got, h.Run)
		}
		if err != nil || !slices.Equal(got, one.want) {
			t.Errorf("a machine with %v is given %v, not %v; %v", one.able, got, one.want, err)
		}
	}
}
