package bench

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// longLog is how many events the stored run of BenchmarkResume has, and lastSaved the event of its
// last snapshot if its process was killed: see what the runner saves.
const (
	longLog   = 10_000
	lastSaved = 8192
)

// BenchmarkResume loads a run of 10,000 events from the SQLite log, as resuming does: after its
// process was killed, and ("settled-") after it had settled or was released. The baseline folds all
// of its events.
func BenchmarkResume(b *testing.B) {
	var killed, settled, all spans
	resume := func(saved int) func() {
		r := runner.New(runner.WithLog(storedRun(b, saved)))
		return func() {
			if run, err := r.Inspect(b.Context(), "r1"); err != nil || run.Seq != longLog {
				b.Fatal(err)
			}
		}
	}
	fromKilled, fromSettled, fromNothing := resume(lastSaved), resume(longLog), resume(0)
	for b.Loop() {
		killed.time(fromKilled)
		settled.time(fromSettled)
		all.time(fromNothing)
	}
	killed.report(b, "")
	settled.report(b, "settled-")
	all.report(b, base)
}

// storedRun is a store with a run of longLog events and a snapshot of the first of them.
func storedRun(b *testing.B, saved int) timeline.Log {
	b.Helper()
	store := openStore(b)
	lease, err := store.Claim(b.Context(), "r1", "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	events := roundsLog()
	for i := 0; i < len(events); i += 1000 {
		if err := store.Append(b.Context(), lease, uint64(i), events[i:i+1000]...); err != nil {
			b.Fatal(err)
		}
	}
	if saved == 0 {
		return store
	}
	run, err := recovery.Fold(events[:saved])
	if err != nil {
		b.Fatal(err)
	}
	data, err := run.Snapshot(false)
	if err == nil {
		err = store.SaveSnapshot(b.Context(), lease, uint64(saved), data)
	}
	if err != nil {
		b.Fatal(err)
	}
	return store
}

// roundsLog is the beginning of a long run: rounds of a model call and a tool call.
func roundsLog() []recovery.Event {
	bodies := []recovery.Body{
		recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("Look around.")}, Policy: recovery.DefaultPolicy()},
		recovery.Claimed{Owner: "bench", Epoch: 1},
	}
	for i := uint64(1); len(bodies) < longLog; i++ {
		call := llm.ToolCall{ID: fmt.Sprint("c", i), Name: "look", Args: []byte(`{"where":"there"}`)}
		message := llm.Message{Role: llm.RoleAssistant, Model: "a/one", Parts: []llm.Part{{Text: answerText}, {Call: &call}}}
		bodies = append(
			bodies,
			recovery.Began{Attempt: i, Round: int(i), Model: "a/one"}, //nolint:gosec // a small number
			recovery.Answered{Attempt: i, Message: message, Stop: llm.StopToolUse},
			recovery.ToolBegan{CallID: call.ID, Name: call.Name, Key: call.ID},
			recovery.ToolReturned{CallID: call.ID, Outcome: recovery.OutcomeOK, Result: llm.ToolResult{CallID: call.ID, Name: call.Name, Text: answerText}},
		)
	}
	events := make([]recovery.Event, longLog)
	for i := range events {
		events[i] = recovery.Event{Run: "r1", Seq: uint64(i) + 1, Time: time.Unix(int64(i), 0).UTC(), Body: bodies[i]}
	}
	return events
}

// BenchmarkList lists all of 10,000 runs in the SQLite log, and ("page-") the newest 50.
func BenchmarkList(b *testing.B) { benchmarkList(b, openStore(b)) }

// BenchmarkListPostgres is BenchmarkList in a database.
func BenchmarkListPostgres(b *testing.B) { benchmarkList(b, openPostgres(b)) }

func benchmarkList(b *testing.B, store timeline.Log) {
	b.Helper()
	const runs = 10_000
	fill(b, store, runs)
	var all, page spans
	var used time.Duration
	list := func(limit int) func() {
		return func() {
			if list, err := store.List(b.Context(), timeline.Query{Limit: limit}); err != nil || len(list) != limit {
				b.Fatal(len(list), err)
			}
		}
	}
	for b.Loop() {
		before := processorTime(b)
		all.time(list(runs))
		used += processorTime(b) - before
		page.time(list(timeline.DefaultLimit))
	}
	b.ReportMetric(float64(used.Microseconds())/float64(len(all)), "cpu-us/list")
	all.report(b, "")
	page.report(b, "page-")
}

// fill stores short runs.
func fill(b *testing.B, log timeline.Log, runs int) {
	b.Helper()
	var begun atomic.Int64
	sideBySide(b, 64, func(int) error {
		for n := int(begun.Add(1)); n <= runs; n = int(begun.Add(1)) {
			if err := storeOne(b.Context(), log, fmt.Sprint("run", n)); err != nil {
				return err
			}
		}
		return nil
	})
}

// storeOne stores one run that has ended.
func storeOne(ctx context.Context, log timeline.Log, run string) error {
	lease, err := log.Claim(ctx, run, "bench", time.Hour)
	if err != nil {
		return err
	}
	at := time.Now().UTC()
	started := recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("What is the weather in Oslo?")}}
	err = log.Append(ctx, lease, 0,
		recovery.Event{Run: run, Seq: 1, Time: at, Body: started},
		recovery.Event{Run: run, Seq: 2, Time: at, Body: recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"}},
	)
	if err != nil {
		return err
	}
	return log.Release(ctx, lease)
}

// BenchmarkSession loads, from the SQLite log, the context for the next message of a conversation
// of 1,000 turns.
func BenchmarkSession(b *testing.B) {
	const turns = 1000
	model := llm.ModelFunc(func(context.Context, llm.Request) iter.Seq2[llm.Delta, error] { return round(1, 1) })
	memory := timeline.NewMemory()
	r := runner.New(runner.WithLog(memory), runner.WithModel("a/one", model))
	store := openStore(b)
	last := ""
	for range turns {
		run, err := r.Start(b.Context(), runner.Request{Prompt: "And now?", Session: "s"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
		last = run.ID()
		copyRun(b, memory, store, last)
	}
	reader := runner.New(runner.WithLog(store))
	var read spans
	for b.Loop() {
		read.time(func() {
			run, err := reader.Inspect(b.Context(), last)
			if err != nil || len(run.Conversation()) != 2*turns {
				b.Fatal(err)
			}
		})
	}
	read.report(b, "")
}

func copyRun(b *testing.B, from, to timeline.Log, run string) {
	b.Helper()
	events, err := from.Read(b.Context(), run, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	lease, err := to.Claim(b.Context(), run, "bench", time.Hour)
	if err == nil {
		err = to.Append(b.Context(), lease, 0, events...)
	}
	seq, data, loadErr := from.LoadSnapshot(b.Context(), run)
	if err == nil && seq > 0 {
		err = to.SaveSnapshot(b.Context(), lease, seq, data)
	}
	err = cmp.Or(err, loadErr)
	if err != nil {
		b.Fatal(err)
	}
}
