package timelinetest

import (
	"slices"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// put makes a run that has started, followed by the events of bodies.
func put(t *testing.T, log timeline.Log, run string, bodies ...recovery.Body) timeline.Lease {
	t.Helper()
	l := claim(t, log, run, "a")
	appendAll(t, log, l, 0, started(run, run, "hi"))
	for i, b := range bodies {
		seq := uint64(i) + 2
		appendAll(t, log, l, seq-1, with(run, seq, b))
	}
	return l
}

func release(t *testing.T, log timeline.Log, leases ...timeline.Lease) {
	t.Helper()
	for _, l := range leases {
		if err := log.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
}

func waits(id string, after time.Duration) recovery.Body {
	return recovery.Waiting{ID: id, For: recovery.WaitReset, Until: epoch.Add(after)}
}

func wantRuns(t *testing.T, log timeline.Log, q timeline.Query, want ...string) {
	t.Helper()
	list, err := log.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, s.Run)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v gives %v, not %v", q, got, want)
	}
}

func testListWaiting(t *testing.T, log timeline.Log) {
	put(t, log, "late", waits("w", 3*time.Hour))
	put(t, log, "running")
	put(t, log, "ended", waits("w", time.Hour), recovery.Ended{Status: recovery.StatusCancelled})
	put(t, log, "soon", waits("w", time.Hour))
	put(t, log, "store", recovery.Paused{})
	wantRuns(t, log, timeline.Query{Waiting: true}, "store", "soon", "late")
	wantRuns(t, log, timeline.Query{Waiting: true, Limit: 1, Session: "store"}, "store")
	wantRuns(t, log, timeline.Query{Waiting: true, Before: "soon"}, "late")
	wantRuns(t, log, timeline.Query{Waiting: true, Status: recovery.StatusRunning})
}

func testListDue(t *testing.T, log timeline.Log) {
	suggestion := recovery.Suggested{Suggestion: recovery.Suggestion{
		SuggestedAction: recovery.ActionRetry, ID: "s", ExpiresAt: epoch.Add(2 * time.Hour),
	}}
	release(t, log,
		put(t, log, "late", waits("w", 3*time.Hour)),
		put(t, log, "ended", recovery.Ended{Status: recovery.StatusCompleted}),
		put(t, log, "asks", suggestion),
		put(t, log, "soon", waits("w", time.Hour)),
		put(t, log, "crashed", recovery.Began{Attempt: 1, Model: "lab/one"}))
	claim(t, log, "nothing happened", "a")
	held := put(t, log, "held", recovery.Began{Attempt: 1, Model: "lab/one"})

	wantRuns(t, log, timeline.Query{Due: epoch})
	wantRuns(t, log, timeline.Query{Due: epoch.Add(2 * time.Second)}, "crashed")
	wantRuns(t, log, timeline.Query{Due: epoch.Add(time.Hour - time.Nanosecond)}, "crashed")
	wantRuns(t, log, timeline.Query{Due: epoch.Add(time.Hour)}, "crashed", "soon")
	wantRuns(t, log, timeline.Query{Due: epoch.Add(4 * time.Hour)}, "crashed", "soon", "asks", "late")
	wantRuns(t, log, timeline.Query{Due: epoch.Add(4 * time.Hour), Limit: 2}, "crashed", "soon")
	wantRuns(t, log, timeline.Query{Due: epoch.Add(4 * time.Hour), Waiting: true}, "soon", "late")

	if _, err := log.Renew(t.Context(), held, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	taken := claim(t, log, "crashed", "b")
	time.Sleep(time.Millisecond) // the lease is over
	wantRuns(t, log, timeline.Query{Due: epoch.Add(time.Hour)}, "held", "soon")
	release(t, log, taken)
	wantRuns(t, log, timeline.Query{Due: epoch.Add(time.Hour), Before: "held"}, "crashed", "soon")
}

// testListDueNoMore: whatever ends or moves a wait also moves the run's time.
func testListDueNoMore(t *testing.T, log timeline.Log) {
	due := timeline.Query{Due: epoch.Add(time.Hour)}
	for name, bodies := range map[string][]recovery.Body{
		"answered, and waits anew": {recovery.Accepted{Suggestion: "w"}, waits("w2", 2*time.Hour)},
		"over, and waits anew":     {recovery.Due{Timer: failure.TimerWait}, recovery.Failed{}, waits("w2", 2*time.Hour)},
		"cancelled":                {recovery.CancelRequested{}, recovery.Ended{Status: recovery.StatusCancelled}},
		"over, and completed":      {recovery.Due{Timer: failure.TimerWait}, recovery.Ended{Status: recovery.StatusCompleted}},
		"over, and asks for longer": {recovery.Due{Timer: failure.TimerWait}, recovery.Suggested{Suggestion: recovery.Suggestion{
			SuggestedAction: recovery.ActionRetry, ID: "s", ExpiresAt: epoch.Add(2 * time.Hour),
		}}},
	} {
		l := put(t, log, name, waits("w", time.Minute))
		release(t, log, l)
		wantRuns(t, log, due, name)
		l = claim(t, log, name, "b")
		for i, b := range bodies {
			seq := uint64(i) + 3
			appendAll(t, log, l, seq-1, with(name, seq, b))
		}
		release(t, log, l)
		wantRuns(t, log, due)
	}
}

// testListUnheard: a run with an unanswered command is found until an event answers it.
func testListUnheard(t *testing.T, log timeline.Log) {
	due := timeline.Query{Due: epoch.Add(time.Hour)}
	l := put(t, log, "waits", waits("w", 2*time.Hour))
	ended := put(t, log, "ended", waits("w", 2*time.Hour), recovery.Ended{Status: recovery.StatusCompleted})
	for _, run := range []string{"waits", "ended"} {
		send(t, log, run, "c1", recovery.Accepted{Suggestion: "v"})
		send(t, log, run, "c2", recovery.Accepted{Suggestion: "w"})
	}
	wantRuns(t, log, due)
	release(t, log, l, ended)
	wantRuns(t, log, due, "waits")
	l = claim(t, log, "waits", "b")
	for n := range uint64(2) {
		late := with("waits", n+3, recovery.Noted{Topic: recovery.TopicTooLate})
		late.Inbox = n + 1
		release(t, log, l)
		wantRuns(t, log, due, "waits")
		l = claim(t, log, "waits", "b")
		appendAll(t, log, l, n+2, late)
	}
	release(t, log, l)
	wantRuns(t, log, due)
	wantRuns(t, log, timeline.Query{Due: epoch.Add(2 * time.Hour)}, "waits")
}
