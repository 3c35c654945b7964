package sqlite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestGoldenStores opens a copy of a store of every schema that there was, and finds in it
// what was written (I27, I28).
func TestGoldenStores(t *testing.T) {
	if *writeGolden {
		makeGolden(t, goldenFile(len(migrations)))
	}
	fresh := schemaOf(t, open(t, t.TempDir()))
	for schema := 1; schema <= len(migrations); schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			golden, err := os.ReadFile(goldenFile(schema))
			if err != nil {
				t.Fatalf("%v: write it before this schema is released: go test ./timeline/sqlite -run TestGoldenStores -write-golden", err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "timeline.db"), golden, 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir)
			if got := schemaOf(t, s); got != fresh {
				t.Errorf("it has become\n%s\nnot\n%s", got, fresh)
			}
			checkGolden(t, s)
		})
	}
}

// TestGoldenOfANewerVersion: what a newer version has written is refused and left alone.
func TestGoldenOfANewerVersion(t *testing.T) {
	dir := t.TempDir()
	golden, err := os.ReadFile(goldenFile(1))
	if err != nil {
		t.Fatal(err)
	}
	const place = 60 + 3 // of the last byte of user_version in SQLite's header
	golden[place] = byte(len(migrations) + 1)
	file := filepath.Join(dir, "timeline.db")
	if err := os.WriteFile(file, golden, 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("was written by a newer version (schema %d, this one knows %d)", len(migrations)+1, len(migrations))
	if s, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("open: %v, %v", s, err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(golden) {
		t.Errorf("the store was changed: %v", err)
	}
}

func checkGolden(t *testing.T, s opened) {
	t.Helper()
	later := goldenTime(0).Add(time.Hour)
	for run, want := range map[string]timeline.Summary{
		"completed": {Status: recovery.StatusCompleted, Ended: true, Session: "s", Course: `{"attempts":1,"tokens":10}`},
		"crashed":   {Status: recovery.StatusRunning, DueAt: goldenTime(4), Course: `{"attempts":1}`},
		"parked":    {Status: recovery.StatusWaiting, WaitingFor: recovery.WaitReset, WaitingUntil: later, DueAt: later, Asking: "w", Course: `{"attempts":1,"failed":1}`},
		"asks":      {Status: recovery.StatusFailed, SuggestionOpen: true, Asking: "s1", DueAt: later.Add(time.Hour), Course: `{"attempts":1,"failed":1,"offers":[{"id":"a1","kind":"retry","label":"Retry"}]}`},
	} {
		bodies := goldenRuns()[run]
		want.Run, want.Model, want.Title = run, "lab/one", "What is a mulligan?"
		if want.Status == recovery.StatusWaiting || want.Status == recovery.StatusFailed {
			want.Kind, want.Problem = failure.KindQuota, "The quota is used up"
		}
		want.Seq, want.StartedAt = uint64(len(bodies)), goldenTime(1)
		want.UpdatedAt = goldenTime(want.Seq)
		h, err := s.find(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if h.Summary != want {
			t.Errorf("%s is\n%+v, not\n%+v", run, h.Summary, want)
		}
		events, err := s.Read(t.Context(), run, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		state, err := recovery.Fold(events)
		if err != nil {
			t.Fatalf("%s: %v", run, err)
		}
		if state.Status != want.Status || state.Seq != want.Seq || state.SuggestionOpen() != want.SuggestionOpen {
			t.Errorf("%s folds to %s at event %d", run, state.Status, state.Seq)
		}
		for i, e := range events {
			sameStored(t, e, goldenEvent(run, i, bodies[i]))
		}
		commands, err := s.Inbox(t.Context(), run, 0, 0)
		if err != nil || len(commands) != 1 || commands[0].ID != "c1" {
			t.Errorf("%s: commands %+v, %v", run, commands, err)
		}
		l, err := s.Claim(t.Context(), run, "b", time.Hour)
		if err != nil || l.Epoch != 2 {
			t.Fatalf("%s is claimed as %+v, %v", run, l, err)
		}
		if err := s.Append(t.Context(), l, want.Seq, goldenEvent(run, len(bodies), recovery.Claimed{Owner: "b", Epoch: 2})); err != nil {
			t.Errorf("%s: %v", run, err)
		}
	}
}

// sameStored compares what a golden event says with what it was written from. A newer
// version may write more fields.
func sameStored(t *testing.T, got, want recovery.Event) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// schemaOf is how the tables and indexes were made.
func schemaOf(t *testing.T, s opened) string {
	t.Helper()
	var all []string
	err := s.each(t.Context(), "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name", func(r row) error {
		var text string
		err := r.Scan(&text)
		all = append(all, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}
