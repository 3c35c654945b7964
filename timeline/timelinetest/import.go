package timelinetest

import (
	"context"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// whole is a run from its first event to its end.
func whole(run, says string) []recovery.Event {
	answer := with(run, 3, recovery.CancelRequested{})
	answer.Inbox = 4
	return []recovery.Event{
		started(run, "", says), with(run, 2, recovery.Claimed{Owner: "elsewhere", Epoch: 7}), answer,
		with(run, 4, recovery.Unknown{Type: "from_the_future", Data: []byte(`{"a":[1.50]}`)}),
		with(run, 5, recovery.Ended{Status: recovery.StatusCancelled}),
	}
}

// answering is the second event of r, which answers the run's n-th command.
func answering(n uint64) recovery.Event {
	e := with("r", 2, recovery.CancelRequested{})
	e.Inbox = n
	return e
}

// ofSession is one of the runs s1, s2 and s3 of a session; the last two continue s1.
func ofSession(run string) []recovery.Event {
	begin := recovery.Started{Model: "lab/one", Session: "s"}
	if run != "s1" {
		begin.Continues = &recovery.Head{Run: "s1", Seq: 2}
	}
	return []recovery.Event{with(run, 1, begin), with(run, 2, recovery.Ended{Status: recovery.StatusCompleted})}
}

func testImport(t *testing.T, log timeline.Log) {
	all := whole("r", "hi")
	for range 2 {
		if err := log.Import(t.Context(), all...); err != nil {
			t.Fatal(err)
		}
	}
	wantEvents(t, log, all...)
	if err := log.Import(t.Context(), all[:4]...); err != nil {
		t.Errorf("the beginning of what is there: %v", err)
	}
	s := only(t, log)
	if s.Run != "r" || s.Title != "hi" || !s.Ended || s.Owner != "" || s.Seq != 5 || s.Status != recovery.StatusCancelled {
		t.Errorf("summary: %+v", s)
	}
	if n := send(t, log, "r", "c", recovery.CancelRequested{}); n != 5 {
		t.Errorf("the next command is at position %d", n)
	}
	if l := claim(t, log, "r", "a"); l.Epoch != 8 {
		t.Errorf("the next claim: %+v", l)
	}
	many := []recovery.Event{started("many", "", "hi"), answering(1 << 39)} // more commands than a store makes room for
	many[1].Run = "many"
	if err := log.Import(t.Context(), many...); err != nil {
		t.Error(err)
	}
	if n := send(t, log, "many", "c", recovery.CancelRequested{}); n != 1<<39+1 {
		t.Errorf("after many commands the next is at position %d", n)
	}
	for _, run := range []string{"s1", "s2"} {
		if err := log.Import(t.Context(), ofSession(run)...); err != nil {
			t.Error(err)
		}
	}
	wantError(t, "a run that the session's newest does not go on with", log.Import(t.Context(), ofSession("s3")...), timeline.ErrSession)
	l := claim(t, log, "claimed only", "a")
	err := log.Import(t.Context(), whole("claimed only", "hi")...)
	wantError(t, "import of a run that somebody has", err, timeline.ErrConflict)
	release(t, log, l)
	if err := log.Import(t.Context(), whole("claimed only", "hi")...); err != nil {
		t.Error(err)
	}
}

func testImportRefused(t *testing.T, log timeline.Log) {
	all := whole("r", "hi")
	for name, bad := range map[string][]recovery.Event{
		"nothing":                             nil,
		"a gap":                               {all[0], all[2]},
		"no beginning":                        all[1:],
		"two runs":                            {all[0], with("q", 2, recovery.Noted{})},
		"no Started":                          {event("r", 1, "x")},
		"no body":                             {all[0], {Run: "r", Seq: 2}},
		"no id":                               {with("", 1, recovery.Started{})},
		"an owner of a number that none has":  {all[0], with("r", 2, recovery.Claimed{Owner: "a", Epoch: 1 << 60})},
		"a command of a number that none has": {all[0], answering(1 << 60)},
		"a session by a name that none has":   {with("r", 1, recovery.Started{Model: "lab/one", Session: "a\x1b[2J"})},
		"a session that no address ends in":   {with("r", 1, recovery.Started{Model: "lab/one", Session: ".."})},
	} {
		if err := log.Import(t.Context(), bad...); err == nil {
			t.Errorf("%s was imported", name)
		}
	}
	if list, err := log.List(t.Context(), timeline.Query{}); err != nil || len(list) > 0 {
		t.Errorf("after refusals there is %+v, %v", list, err)
	}
	if err := log.Import(t.Context(), all[:2]...); err != nil {
		t.Fatal(err)
	}
	wantError(t, "another run", log.Import(t.Context(), whole("r", "ho")...), timeline.ErrConflict)
	wantError(t, "a longer run", log.Import(t.Context(), all...), timeline.ErrConflict)
	wantEvents(t, log, all[:2]...)
}

func testDelete(t *testing.T, log timeline.Log) {
	for _, run := range []string{"p", "q", "r"} {
		release(t, log, put(t, log, run, recovery.Ended{Status: recovery.StatusCompleted}))
		send(t, log, run, "c", recovery.CancelRequested{})
	}
	held := put(t, log, "held")
	followed := put(t, log, "followed")
	wantError(t, "an unknown run", log.Delete(t.Context(), "r", "nobody"), timeline.ErrNotFound)
	wantError(t, "a run that is driven", log.Delete(t.Context(), "r", "held"), timeline.ErrOwned)
	wantRuns(t, log, timeline.Query{}, "followed", "held", "r", "q", "p")
	if err := log.Delete(t.Context(), "r", "p"); err != nil {
		t.Fatal(err)
	}
	wantRuns(t, log, timeline.Query{}, "followed", "held", "q")
	_, err := log.Read(t.Context(), "r", 0, 0)
	wantError(t, "read of a deleted run", err, timeline.ErrNotFound)
	appendAll(t, log, held, 1, event("held", 2, "x"))

	release(t, log, followed)
	var last error
	for item, err := range log.Follow(bounded(t), "followed", 0) {
		last = err
		if item.Event != nil {
			go func() { _ = log.Delete(context.WithoutCancel(t.Context()), "followed") }()
		}
	}
	wantError(t, "follower of a deleted run", last, timeline.ErrNotFound)

	l := claim(t, log, "r", "a")
	if l.Epoch != 1 {
		t.Errorf("a deleted run's name is claimed at epoch %d", l.Epoch)
	}
	wantEvents(t, log)
}

// testNotices: current followers see a notice, later ones do not.
func testNotices(t *testing.T, log timeline.Log) {
	l := claim(t, log, "r", "a")
	log.Notify("r", "nobody hears this")
	appendAll(t, log, l, 0, event("r", 1, "x"))
	for item, err := range log.Follow(bounded(t), "r", 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case item.Event != nil:
			time.AfterFunc(time.Millisecond, func() { log.Notify("r", "it waits") })
		case item.Notice == nil || *item.Notice != timeline.Notice{Run: "r", Text: "it waits"}:
			t.Fatalf("got %+v", item)
		default:
			return
		}
	}
	t.Fatal("the follower stopped")
}
