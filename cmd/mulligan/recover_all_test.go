package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// TestRecoverAllKilledInTheMiddle: a thousand open suggestions are answered together, the process
// is killed once some of their runs have ended, and the same is said again. None is lost, and none is
// answered or carried out twice.
func TestRecoverAllKilledInTheMiddle(t *testing.T) {
	const n, some = 1000, 50
	h := newHome(t, "answer:There you are.")
	h.ask(n)
	cmd := h.command("recover", "--all", "--cause", "overloaded", "--action", "retry", "--json")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	ended := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if ended++; ended == some {
			_ = cmd.Process.Kill()
		}
	}
	if _ = cmd.Wait(); ended < some || ended == n {
		t.Fatalf("%d runs had ended when it was killed", ended)
	}
	h.mulligan(0, "recover", "--all", "--cause", "overloaded", "--action", "retry")
	_ = h.command("runs", "resume", "--all").Run()         // the calls that were in the air are interrupted, which is asked about, too
	h.mulligan(0, "recover", "--all", "--action", "retry") // so that is another suggestion
	log, err := sqlite.Open(t.Context(), filepath.Join(h.dir, "state", "mulligan"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for i := range n {
		run := fmt.Sprintf("r%04d", i)
		events, err := log.Read(t.Context(), run, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		accepted, answered := map[string]int{}, 0
		for _, e := range events {
			switch b := e.Body.(type) {
			case recovery.Suggested:
				accepted[b.Suggestion.ID] += 0
			case recovery.Accepted:
				accepted[b.Suggestion]++
			case recovery.Answered:
				answered++
			}
		}
		if end, ok := events[len(events)-1].Body.(recovery.Ended); !ok || end.Status != recovery.StatusCompleted || answered != 1 || !each(accepted, 1) {
			t.Errorf("%s: its suggestions were accepted so often: %v; answered %d times, its last event is %s", run, accepted, answered, events[len(events)-1].Type())
		}
	}
	if out := h.mulligan(0, "runs", "list", "--needs-you", "--json"); strings.TrimSpace(out) != "" {
		t.Errorf("these wait still: %s", out)
	}
}

// each reports whether all of counts are n.
func each(counts map[string]int, n int) bool {
	for _, c := range counts {
		if c != n {
			return false
		}
	}
	return true
}

// ask writes n runs, each of which has failed once and waits for a person.
func (h *home) ask(n int) {
	h.Helper()
	log, err := sqlite.Open(h.Context(), filepath.Join(h.dir, "state", "mulligan"))
	if err != nil {
		h.Fatal(err)
	}
	defer log.Close()
	for i := range n {
		events, err := failedOnce(fmt.Sprintf("r%04d", i))
		if err == nil {
			var l timeline.Lease
			if l, err = log.Begin(h.Context(), events[0].Run, "test", time.Hour, func(timeline.Lease) []recovery.Event { return events }); err == nil {
				err = log.Release(h.Context(), l)
			}
		}
		if err != nil {
			h.Fatal(err)
		}
	}
}

// failedOnce are the events of a run with an open suggestion.
func failedOnce(id string) ([]recovery.Event, error) {
	var run recovery.Run
	var events []recovery.Event
	write := func(b recovery.Body) error {
		e := recovery.Event{Run: id, Seq: run.Seq + 1, Time: time.Now().UTC(), Body: b}
		stored, err := json.Marshal(e)
		if err == nil {
			err = json.Unmarshal(stored, &e)
		}
		events = append(events, e)
		if err != nil {
			return err
		}
		return run.Apply(e)
	}
	f := failure.NewFailure(failure.KindOverloaded, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.Provider, f.Model = "fable", "fable/one"
	f.Describe(failure.Words{})
	policy := recovery.DefaultPolicy()
	policy.Models = []string{"fable/one"}
	for _, b := range []recovery.Body{
		recovery.Started{Model: "fable/one", Input: []llm.Message{llm.User("hi")}, Policy: policy},
		recovery.Claimed{Owner: "test", Epoch: 1},
		recovery.Began{Attempt: 1, Round: 1, Model: "fable/one"},
		recovery.Failed{Attempt: 1, Failure: *f},
	} {
		if err := write(b); err != nil {
			return nil, err
		}
	}
	for range 3 { // asking nobody, deciding, suggesting
		for _, e := range recovery.Next(&run) {
			if e.Record != nil {
				if err := write(e.Record); err != nil {
					return nil, err
				}
			}
		}
		if run.SuggestionOpen() {
			return events, nil
		}
	}
	return nil, fmt.Errorf("run %s asks nobody: %s", id, events[len(events)-1].Type())
}
