package timelinetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

func only(t *testing.T, log timeline.Log) timeline.Summary {
	t.Helper()
	list, err := log.List(t.Context(), timeline.Query{})
	if err != nil || len(list) != 1 {
		t.Fatalf("list: %+v, %v", list, err)
	}
	return list[0]
}

func testSummary(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	if list, err := log.List(t.Context(), timeline.Query{}); err != nil || len(list) > 0 {
		t.Errorf("a run without an event is listed: %+v, %v", list, err)
	}
	for i, step := range summarySteps() {
		seq := uint64(i) + 1
		e := with("r", seq, step.body)
		appendAll(t, log, l, seq-1, e)
		until := summaryUntil
		if step.due.Equal(epoch) {
			step.due = e.Time
		}
		if step.what == "" || step.what == recovery.WaitStore {
			until = time.Time{}
		}
		s := only(t, log)
		if s.Status != step.status || s.SuggestionOpen != step.open || s.Seq != seq || !s.UpdatedAt.Equal(e.Time) {
			t.Errorf("after %s: %+v", e.Type(), s)
		}
		if s.WaitingFor != step.what || !s.WaitingUntil.Equal(until) || !s.DueAt.Equal(step.due) {
			t.Errorf("after %s %d: waits for %q until %s, due at %s, not %s", e.Type(), seq, s.WaitingFor, s.WaitingUntil, s.DueAt, step.due)
		}
	}
	s := only(t, log)
	title := strings.TrimSpace(strings.Repeat("é ", timeline.MaxTitle/2))
	if s.Run != "r" || s.Session != "s1" || s.Model != "lab/two" || s.Owner != "a" || !s.Ended || !s.StartedAt.Equal(epoch.Add(time.Second)) ||
		s.Title != title {
		t.Errorf("summary: %+v", s)
	}
}

// summaryUntil is when the waits of summarySteps end.
var summaryUntil = epoch.Add(time.Hour)

// summaryStep is an event, and the run's summary after it.
type summaryStep struct {
	body   recovery.Body
	status recovery.Status
	open   bool
	what   recovery.WaitFor
	due    time.Time // epoch stands for the time of the event
}

func summarySteps() []summaryStep {
	until, expiry := summaryUntil, epoch.Add(24*time.Hour)
	suggestion := recovery.Suggested{Suggestion: recovery.Suggestion{SuggestedAction: recovery.ActionRetry, ID: "s", ExpiresAt: expiry}}
	final := recovery.Suggested{Suggestion: recovery.Suggestion{SuggestedAction: recovery.ActionFail, ID: "t", ExpiresAt: expiry}}
	waiting := func(id string, what recovery.WaitFor) recovery.Body {
		return recovery.Waiting{ID: id, For: what, Until: until}
	}
	now, never := epoch, time.Time{}
	return []summaryStep{
		{started("r", "s1", strings.Repeat("é\n", 100)).Body, recovery.StatusRunning, false, "", now},
		{recovery.Began{Attempt: 1, Model: "lab/two"}, recovery.StatusRunning, false, "", now},
		{recovery.Noted{Topic: recovery.TopicText, Attempt: 1}, recovery.StatusRunning, false, "", now},
		{waiting("w", recovery.WaitReset), recovery.StatusWaiting, false, recovery.WaitReset, until},
		{recovery.Claimed{}, recovery.StatusWaiting, false, recovery.WaitReset, until},
		{recovery.Due{Timer: failure.TimerWait}, recovery.StatusRunning, false, "", now},
		{waiting("w2", recovery.WaitTime), recovery.StatusWaiting, false, recovery.WaitTime, until},
		{recovery.Accepted{Suggestion: "w"}, recovery.StatusWaiting, false, recovery.WaitTime, until},
		{recovery.Accepted{Suggestion: "w2"}, recovery.StatusRunning, false, "", now},
		{waiting("w3", recovery.WaitTime), recovery.StatusWaiting, false, recovery.WaitTime, until},
		{recovery.Due{Timer: failure.TimerRun}, recovery.StatusWaiting, false, recovery.WaitTime, now},
		{recovery.Failed{}, recovery.StatusRunning, false, "", now},
		{waiting("w4", recovery.WaitNetwork), recovery.StatusWaiting, false, recovery.WaitNetwork, now},
		{recovery.Noted{}, recovery.StatusWaiting, false, recovery.WaitNetwork, now},
		{recovery.Due{Timer: failure.TimerNetwork}, recovery.StatusRunning, false, "", now},
		{suggestion, recovery.StatusFailed, true, "", expiry},
		{recovery.Accepted{Suggestion: "another"}, recovery.StatusFailed, true, "", expiry},
		{recovery.Accepted{Suggestion: "s"}, recovery.StatusRunning, false, "", now},
		{recovery.Paused{For: 5}, recovery.StatusRunning, false, "", now},
		{recovery.Paused{}, recovery.StatusWaiting, false, recovery.WaitStore, now},
		{recovery.Claimed{}, recovery.StatusRunning, false, "", now},
		{waiting("", recovery.WaitTool), recovery.StatusWaiting, false, recovery.WaitTool, until},
		{recovery.Claimed{}, recovery.StatusWaiting, false, recovery.WaitTool, until},
		{recovery.ToolReturned{CallID: "c1"}, recovery.StatusRunning, false, "", now},
		{recovery.ToolReturned{CallID: "c2"}, recovery.StatusRunning, false, "", now},
		{waiting("w5", recovery.WaitReset), recovery.StatusWaiting, false, recovery.WaitReset, until},
		{recovery.CancelRequested{}, recovery.StatusWaiting, false, recovery.WaitReset, now},
		{final, recovery.StatusFailed, false, "", now},
		{recovery.Ended{Status: recovery.StatusCancelled}, recovery.StatusCancelled, false, "", never},
		{recovery.Began{}, recovery.StatusCancelled, false, "", never},
	}
}

func testList(t *testing.T, log timeline.Log) {
	const runs = timeline.DefaultLimit + 10
	for i := range runs {
		status, before := recovery.StatusFailed, ""
		if i%10 == 0 {
			status = recovery.StatusCompleted
		}
		if i >= 2 {
			before = fmt.Sprintf("run%02d", i-2)
		}
		turn(t, log, fmt.Sprintf("run%02d", i), fmt.Sprint("s", i%2), before, status)
	}
	for _, c := range []struct {
		q           timeline.Query
		n           int
		first, last string
	}{
		{timeline.Query{}, timeline.DefaultLimit, "run59", "run10"},
		{timeline.Query{Limit: 3, Before: "run10"}, 3, "run09", "run07"},
		{timeline.Query{Before: "run10"}, 10, "run09", "run00"},
		{timeline.Query{Status: recovery.StatusCompleted}, 6, "run50", "run00"},
		{timeline.Query{Session: "s1", Limit: 2}, 2, "run59", "run57"},
		{timeline.Query{Session: "s1", Status: recovery.StatusCompleted}, 0, "", ""},
	} {
		list, err := log.List(t.Context(), c.q)
		if err != nil || len(list) != c.n || c.n > 0 && (list[0].Run != c.first || list[c.n-1].Run != c.last) {
			t.Errorf("%+v: %d runs %+v, %v", c.q, len(list), list, err)
		}
	}
	labelled := claim(t, log, "labelled", "a")
	appendAll(t, log, labelled, 0, with("labelled", 1, recovery.Started{
		Input: []llm.Message{llm.User("hi")}, Labels: recovery.Labels{"app/tenant.id": "ac\"me", "beta": ""},
	}))
	appendAll(t, log, labelled, 1, with("labelled", 2, recovery.Ended{Status: recovery.StatusCompleted}))
	for want, labels := range map[int][]recovery.Labels{
		1: {{"app/tenant.id": "ac\"me"}, {"beta": ""}, {"app/tenant.id": "ac\"me", "beta": ""}},
		0: {{"app/tenant.id": "acme"}, {"beta": "x"}, {"gamma": ""}, {"beta": "", "gamma": ""}},
	} {
		for _, some := range labels {
			list, err := log.List(t.Context(), timeline.Query{Labels: some})
			if err != nil || len(list) != want || want > 0 && len(list[0].Labels.Labels()) != 2 {
				t.Errorf("with %v: %+v, %v", some, list, err)
			}
		}
	}
	_, err := log.List(t.Context(), timeline.Query{Before: "nobody"})
	wantError(t, "list before an unknown run", err, timeline.ErrNotFound)
}

func testClose(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	appendAll(t, log, l, 0, event("r", 1, "x"))
	ctx := context.WithoutCancel(t.Context())
	n := 0
	for _, err := range log.Follow(ctx, "r", 0) {
		if n++; n == 1 {
			go func() { _ = log.Close() }()
			continue
		}
		wantError(t, "follower of a closed log", err, timeline.ErrClosed)
	}
	for range 2 {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := log.Claim(ctx, "r", "a", time.Hour)
	wantError(t, "claim", err, timeline.ErrClosed)
	wantError(t, "append", log.Append(ctx, l, 1, event("r", 2, "x")), timeline.ErrClosed)
	_, err = log.Read(ctx, "r", 0, 0)
	wantError(t, "read", err, timeline.ErrClosed)
	_, err = log.List(ctx, timeline.Query{})
	wantError(t, "list", err, timeline.ErrClosed)
	_, err = log.Send(ctx, "r", timeline.Command{ID: "x", Body: recovery.CancelRequested{}})
	wantError(t, "send", err, timeline.ErrClosed)
	for _, err := range log.Commands(ctx, "r", 0) {
		wantError(t, "commands", err, timeline.ErrClosed)
	}
}

func testReopen(t *testing.T, log timeline.Log, reopen func(*testing.T, timeline.Log) timeline.Log) {
	l := claim(t, log, "r", "a")
	all := []recovery.Event{started("r", "s1", "hi"), event("r", 2, "x")}
	appendAll(t, log, l, 0, all...)
	send(t, log, "r", "c1", recovery.CancelRequested{})
	before := only(t, log)

	log = reopen(t, log)
	wantEvents(t, log, all...)
	if after := only(t, log); after != before {
		t.Errorf("summary was %+v, is %+v", before, after)
	}
	if n := send(t, log, "r", "c1", recovery.CancelRequested{}); n != 1 {
		t.Errorf("the command is at position %d now", n)
	}
	next := claim(t, log, "r", "b")
	if next.Epoch != l.Epoch+1 {
		t.Errorf("lease: %+v", next)
	}
	wantError(t, "append of the old owner", log.Append(t.Context(), l, 2, event("r", 3, "x")), timeline.ErrStale)
	appendAll(t, log, next, 2, event("r", 3, "y"))
}
