package timelinetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// joins is the first event of a run of a session that continues another run, "" for none.
func joins(run, session, continues string) recovery.Event {
	body := recovery.Started{Model: "lab/one", Session: session, Input: []llm.Message{llm.User("Say " + run)}}
	if continues != "" {
		body.Continues = &recovery.Head{Run: continues, Seq: 2}
	}
	return with(run, 1, body)
}

// turn is a whole run of a session.
func turn(t *testing.T, log timeline.Log, run, session, continues string, status recovery.Status) {
	t.Helper()
	l := claim(t, log, run, "a")
	appendAll(t, log, l, 0, joins(run, session, continues), with(run, 2, recovery.Ended{Status: status}))
}

func testSessions(t *testing.T, log timeline.Log) {
	if list, err := log.Sessions(t.Context(), 0); err != nil || len(list) != 0 {
		t.Errorf("sessions of an empty log: %+v, %v", list, err)
	}
	turn(t, log, "r1", "one", "", recovery.StatusCompleted)
	turn(t, log, "r2", "two", "", recovery.StatusCompleted)
	turn(t, log, "r3", "", "", recovery.StatusCompleted)
	turn(t, log, "r4", "one", "r1", recovery.StatusCancelled)
	claim(t, log, "r5", "a")
	list, err := log.Sessions(t.Context(), 0)
	if err != nil || len(list) != 2 || list[0].ID != "one" || list[0].Runs != 2 || list[0].Title != "Say r1" || list[0].Last.Run != "r4" ||
		list[1].ID != "two" || list[1].Runs != 1 || list[1].Last.Status != recovery.StatusCompleted {
		t.Errorf("sessions: %+v, %v", list, err)
	}
	named := timeline.Session{ID: "two", Title: "Tea in “Oslo”", Model: "a/one"}
	if err := log.SetSession(t.Context(), named); err != nil {
		t.Fatal(err)
	}
	if err := log.SetSession(t.Context(), timeline.Session{ID: "one", Model: "a/two"}); err != nil {
		t.Fatal(err)
	}
	if s, err := log.Session(t.Context(), "two"); err != nil || !reflect.DeepEqual(s, named) {
		t.Errorf("a session that somebody has named: %+v, %v", s, err)
	}
	if list, err := log.Sessions(t.Context(), 0); err != nil || len(list) != 2 || list[0].Title != "Say r1" || list[1].Title != named.Title {
		t.Errorf("sessions of which one is named: %+v, %v", list, err)
	}
	for _, title := range []string{"two\nlines", "\x1b[2J", "\xff", " ", strings.Repeat("x", timeline.MaxTitle+1)} {
		if err := log.SetSession(t.Context(), timeline.Session{ID: "one", Title: title}); err == nil {
			t.Errorf("the title %q is taken", title)
		}
	}
	if list, err := log.Sessions(t.Context(), 1); err != nil || len(list) != 1 || list[0].ID != "one" {
		t.Errorf("one session: %+v, %v", list, err)
	}
}

func testSessionBusy(t *testing.T, log timeline.Log) {
	early, first := claim(t, log, "r0", "a"), claim(t, log, "r1", "a")
	appendAll(t, log, first, 0, joins("r1", "s", ""))
	appendAll(t, log, first, 0, joins("r1", "s", "")) // again, as if the caller had not seen its success
	second := claim(t, log, "r2", "a")
	for _, continues := range []string{"", "r1"} {
		err := log.Append(t.Context(), second, 0, joins("r2", "s", continues))
		busy, ok := errors.AsType[*timeline.SessionError](err)
		if !ok || busy.Run != "r1" || busy.Ended || !errors.Is(err, timeline.ErrSession) {
			t.Errorf("a second run at once: %v", err)
		}
	}
	appendAll(t, log, claim(t, log, "r3", "a"), 0, joins("r3", "another", ""))
	appendAll(t, log, first, 1, with("r1", 2, recovery.Ended{Status: recovery.StatusFailed}))
	for _, continues := range []string{"", "r3", "r9"} {
		err := log.Append(t.Context(), second, 0, joins("r2", "s", continues))
		if moved, ok := errors.AsType[*timeline.SessionError](err); !ok || moved.Run != "r1" || !moved.Ended {
			t.Errorf("a run that continues %q: %v", continues, err)
		}
	}
	wantError(t, "a run that was claimed before the one that it continues", log.Append(t.Context(), early, 0, joins("r0", "s", "r1")), timeline.ErrSession)
	appendAll(t, log, second, 0, joins("r2", "s", "r1"))
	appendAll(t, log, claim(t, log, "r4", "a"), 0, joins("r4", "gone", "r9")) // what it continues was deleted
}

// testSessionRace: many begin the next run of a session at once.
func testSessionRace(t *testing.T, log timeline.Log) {
	turn(t, log, "r0", "s", "", recovery.StatusCompleted)
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			run := fmt.Sprint("next", i)
			l, err := log.Claim(t.Context(), run, "a", time.Hour)
			if err == nil {
				err = log.Append(t.Context(), l, 0, joins(run, "s", "r0"))
			}
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, timeline.ErrSession) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d runs of a session at once", won.Load())
	}
}

func testSessionDefaults(t *testing.T, log timeline.Log) {
	if s, err := log.Session(t.Context(), "s"); err != nil || !reflect.DeepEqual(s, timeline.Session{ID: "s"}) {
		t.Errorf("a session that nobody has heard of: %+v, %v", s, err)
	}
	off := false
	for _, want := range []timeline.Session{
		{ID: "s", Model: "a/one", AutoRecover: &off, Timeouts: recovery.Settings{failure.TimerIdle: 0, failure.TimerRun: 60_000}},
		{ID: "s", Model: "a/two"},
	} {
		if err := log.SetSession(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if got, err := log.Session(t.Context(), "s"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, id := range []string{"", ".", "..", "a b", "é", "a/b", strings.Repeat("x", timeline.MaxSessionID+1)} {
		if err := log.SetSession(t.Context(), timeline.Session{ID: id}); err == nil {
			t.Errorf("session id %q is taken", id)
		}
	}
	if err := log.SetSession(t.Context(), timeline.Session{ID: strings.Repeat("Az09._:-", timeline.MaxSessionID/8)}); err != nil {
		t.Error(err)
	}
}

func testSnapshot(t *testing.T, log timeline.Log) {
	_, _, err := log.LoadSnapshot(t.Context(), "r")
	wantError(t, "snapshot of an unknown run", err, timeline.ErrNotFound)
	l := claim(t, log, "r", "a")
	appendAll(t, log, l, 0, event("r", 1, "x"), event("r", 2, "y"))
	want := func(seq uint64, data string) {
		t.Helper()
		if got, stored, err := log.LoadSnapshot(t.Context(), "r"); err != nil || got != seq || string(stored) != data {
			t.Errorf("snapshot of event %d: %q, %v; want event %d: %q", got, stored, err, seq, data)
		}
	}
	want(0, "")
	save := func(l timeline.Lease, seq uint64, data string) error {
		return log.SaveSnapshot(t.Context(), l, seq, []byte(data))
	}
	for _, s := range []struct {
		seq     uint64
		data    string
		kept    uint64
		content string
	}{{1, "one", 1, "one"}, {2, "two", 2, "two"}, {1, "one again", 2, "two"}} {
		if err := save(l, s.seq, s.data); err != nil {
			t.Fatal(err)
		}
		want(s.kept, s.content)
	}
	wantError(t, "snapshot of an event that is not there", save(l, 3, "three"), timeline.ErrConflict)
	next := claim(t, log, "r", "a")
	wantError(t, "snapshot of an old owner", save(l, 2, "old"), timeline.ErrStale)
	appendAll(t, log, next, 2, event("r", 3, "z"))
	if err := save(next, 3, "three"); err != nil {
		t.Fatal(err)
	}
	want(3, "three")
}
