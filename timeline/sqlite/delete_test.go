package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// canary is what must not be left of a deleted run.
const canary = "the canary sings at dawn"

// holding lists the files under dir that hold text.
func holding(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(text)) {
			names = append(names, filepath.Base(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// singing fills a run with text wherever a run has some.
func singing(t *testing.T, s *Store, run, text string) {
	t.Helper()
	ctx := t.Context()
	l, err := s.Claim(ctx, run, text, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_772_000_000, 0).UTC()
	events := []recovery.Event{{Run: run, Seq: 1, Time: at, Body: recovery.Started{
		Model: "lab/" + text, System: text, Input: []llm.Message{llm.User(text)},
	}}}
	for seq := uint64(2); seq < 40; seq++ {
		events = append(events, recovery.Event{Run: run, Seq: seq, Time: at, Text: text, Body: recovery.ToolReturned{
			CallID: text, Result: llm.ToolResult{Name: text, Text: strings.Repeat(text+" ", int(seq*seq))}, //nolint:gosec // small
		}})
	}
	for i, e := range events {
		if err := s.Append(ctx, l, uint64(i), e); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveSnapshot(ctx, l, e.Seq, []byte(strings.Repeat(text, i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Send(ctx, run, timeline.Command{ID: text, Body: recovery.Accepted{Suggestion: text}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(ctx, l); err != nil {
		t.Fatal(err)
	}
}

// TestDeletedRunsAreGone looks for what was said in every file of the store.
func TestDeletedRunsAreGone(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	for i := range 3 {
		singing(t, s, fmt.Sprint("r", i), canary)
		singing(t, s, fmt.Sprint("kept", i), "nothing special")
	}
	if len(holding(t, dir, canary)) == 0 {
		t.Fatal("the canary is nowhere: this test shows nothing")
	}
	before, err := other.List(t.Context(), timeline.Query{})
	if err != nil || len(before) != 6 {
		t.Fatalf("%d runs, %v", len(before), err)
	}
	if err := s.Delete(t.Context(), "r0", "r1", "r2"); err != nil {
		t.Fatal(err)
	}
	if names := holding(t, dir, canary); len(names) > 0 {
		t.Errorf("the canary is still in %v", names)
	}
	for _, log := range []*Store{s, other} {
		events, err := log.Read(t.Context(), "kept2", 0, 0)
		if err != nil || len(events) != 39 {
			t.Errorf("what was kept: %d events, %v", len(events), err)
		}
	}
	singing(t, other, "new", "another song")
	var verdict string
	if err := s.readers.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
}

// TestWritesDoNotWaitForAWipe: a reader holds the write-ahead log for as long as it likes, and
// runs write meanwhile.
func TestWritesDoNotWaitForAWipe(t *testing.T) {
	s := open(t, t.TempDir())
	singing(t, s, "old", canary)
	singing(t, s, "reader", "x")
	rows, err := s.readers.QueryContext(t.Context(), "SELECT event FROM timeline")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	deleted := make(chan error, 1)
	go func() { deleted <- s.Delete(t.Context(), "old") }()
	for gone := false; !gone; {
		_, err := s.find(t.Context(), "old")
		gone = err != nil
	}
	l, err := s.Claim(t.Context(), "r", "a", time.Hour)
	for seq := uint64(0); seq < 20 && err == nil; seq++ {
		ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
		err = s.Append(ctx, l, seq, large("r", seq+1))
		stop()
	}
	if err != nil {
		t.Errorf("a write waited: %v", err)
	}
	select {
	case err := <-deleted:
		t.Errorf("the wipe ended while somebody read: %v", err)
	default:
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-deleted; err != nil {
		t.Error(err)
	}
	if left := holding(t, s.dir, canary); len(left) > 0 {
		t.Errorf("it is left in %v", left)
	}
}
