package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// writeGolden makes the golden store of this version's schema, once it is to be released:
//
//	go test ./timeline/sqlite -run TestGoldenStores -write-golden
var writeGolden = flag.Bool("write-golden", false, "write the golden store of this version's schema")

func goldenFile(schema int) string {
	return filepath.Join("testdata", fmt.Sprintf("schema%d.db", schema))
}

// goldenTime is when the events of a golden store happened, second by second.
func goldenTime(seq uint64) time.Time { return time.Unix(1_772_000_000+int64(seq), 0).UTC() } //nolint:gosec // small

// goldenRuns are the runs of a golden store: one in each state that a list tells apart.
func goldenRuns() map[string][]recovery.Body {
	started := recovery.Started{
		Model: "lab/one", Session: "s", Input: []llm.Message{llm.User("What is a mulligan?")},
		Policy: recovery.Policy{Models: []string{"lab/one", "lab/two"}},
	}
	plain := started
	plain.Session = ""
	broke := recovery.Failed{Attempt: 1, Failure: failure.Failure{
		Kind: failure.KindQuota, Code: "MODEL_PROVIDER_RATE_LIMITED", Origin: failure.OriginModel, Phase: failure.PhaseBeforeFirstEvent,
		Model: "lab/one", Title: "The quota is used up",
	}}
	began := recovery.Began{Attempt: 1, Round: 1, Model: "lab/one"}
	claimed := recovery.Claimed{Owner: "a", Epoch: 1}
	retry := recovery.Decided{Occasion: "run_error/4", Decision: recovery.Decision{Action: recovery.ActionRetry, Delay: 3_600_000}}
	later := goldenTime(0).Add(time.Hour)
	return map[string][]recovery.Body{
		"completed": {
			started, claimed, began,
			former("A second"),
			recovery.Answered{Attempt: 1, Message: llm.Message{
				Role: llm.RoleAssistant, Model: "lab/one", Parts: []llm.Part{{Text: "A second shot."}},
			}, Usage: llm.Usage{InputTokens: 7, OutputTokens: 3}, Stop: llm.StopEnd},
			recovery.Unknown{Type: "from_the_future", Data: json.RawMessage(`{"deep":[1.50,{"a":null}]}`)},
			recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"},
		},
		"crashed": {plain, claimed, began, former("A sec")},
		"parked":  {plain, claimed, began, broke, retry, recovery.Waiting{ID: "w", For: recovery.WaitReset, Until: later, Model: "lab/one"}},
		"asks": {plain, claimed, began, broke, retry, recovery.Suggested{Suggestion: recovery.Suggestion{
			SuggestedAction: recovery.ActionRetry, ID: "s1", ExpiresAt: later.Add(time.Hour),
			Actions: []recovery.Button{{ID: "a1", Kind: recovery.ButtonRetry, Label: "Retry", Effect: recovery.EffectRunner}},
		}}},
	}
}

// former is an event that there was until schema 8: a part of the text of an attempt.
func former(text string) recovery.Body {
	return recovery.Unknown{Type: "checkpointed", Data: json.RawMessage(`{"attempt":1,"offset":0,"text":"` + text + `"}`)}
}

func goldenEvent(run string, i int, b recovery.Body) recovery.Event {
	seq := uint64(i) + 1 //nolint:gosec // small
	return recovery.Event{Run: run, Seq: seq, Time: goldenTime(seq), Text: "a line", Body: b}
}

// makeGolden writes the golden store of this version. Claims have a field that no version
// knows.
func makeGolden(t *testing.T, file string) {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	s := open(t, dir)
	for run, bodies := range goldenRuns() {
		l, err := s.Claim(ctx, run, "a", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range bodies {
			if err := s.Append(ctx, l, uint64(i), goldenEvent(run, i, b)); err != nil {
				t.Fatal(err)
			}
		}
		if run == "completed" { // so that some runs lie in pieces and some do not
			if err := s.between(ctx, func(context.Context) error { s.statements.waiting = maxRecent; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Send(ctx, run, timeline.Command{ID: "c1", Body: recovery.CancelRequested{}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Release(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"recent", "events"} {
		_, err = db.ExecContext(ctx, `UPDATE `+table+`
			SET event = CAST(replace(CAST(event AS TEXT), '"owner"', '"unheard_of":{"x":[1]},"owner"') AS BLOB)`)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(filepath.Join(dir, "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, golden, 0o644); err != nil { //nolint:gosec // there is nothing secret in it
		t.Fatal(err)
	}
}
