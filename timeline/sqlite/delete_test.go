package sqlite

import (
	"bytes"
	"context"
	"errors"
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

// fillWithText fills a run with text wherever a run has some.
func fillWithText(t *testing.T, s opened, run, text string) {
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
		fillWithText(t, s, fmt.Sprint("r", i), canary)
		fillWithText(t, s, fmt.Sprint("kept", i), "nothing special")
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
	for _, log := range []opened{s, other} {
		events, err := log.Read(t.Context(), "kept2", 0, 0)
		if err != nil || len(events) != 39 {
			t.Errorf("what was kept: %d events, %v", len(events), err)
		}
	}
	fillWithText(t, other, "new", "another song")
	var verdict string
	if err := s.readers.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
}

// TestWritesDoNotWaitForAWipe: a reader holds the write-ahead log for as long as it likes, and
// runs write meanwhile.
func TestWritesDoNotWaitForAWipe(t *testing.T) {
	s := open(t, t.TempDir())
	fillWithText(t, s, "old", canary)
	fillWithText(t, s, "reader", "x")
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

// rowsOf counts the rows of events that are stored, as others see it.
func rowsOf(t *testing.T, s opened) (n int) {
	t.Helper()
	if err := s.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// piled gives runs many rows, which is quicker than to append them.
func piled(t *testing.T, s opened, rows int, runs ...string) {
	t.Helper()
	for _, run := range runs {
		fillWithText(t, s, run, canary)
		h, err := s.find(t.Context(), run)
		if err == nil {
			err = s.between(t.Context(), func(ctx context.Context) error {
				_, err := s.writer.ExecContext(ctx, `WITH RECURSIVE more (seq) AS (SELECT 1000 UNION ALL SELECT seq + 1 FROM more LIMIT ?)
					INSERT INTO events (run, seq, event) SELECT ?, seq, ? FROM more`, rows, h.n, []byte(canary))
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWritesDoNotWaitForADelete: while 100,000 rows are removed others write in between.
func TestWritesDoNotWaitForADelete(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100,000 rows")
	}
	s := open(t, t.TempDir())
	runs := []string{"one", "two", "three", "four"}
	piled(t, s, 25_000, runs...)
	all := rowsOf(t, s)
	l, err := s.Claim(t.Context(), "r", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	deleted := make(chan error, 1)
	go func() { deleted <- s.Delete(t.Context(), runs...) }()
	between := 0
	for seq, left := uint64(0), all; left > 0; seq++ {
		if err := s.Append(t.Context(), l, seq, noted("r", seq+1)); err != nil {
			t.Fatal(err)
		}
		if left = rowsOf(t, s); left > 0 && left < all {
			between++
		}
	}
	if between < 3 {
		t.Errorf("of all that is removed %d writes came in between", between)
	}
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if left := holding(t, s.dir, canary); len(left) > 0 {
		t.Errorf("it is left in %v", left)
	}
}

// TestADeleteThatEndedHalfway: nobody finds a run that is being removed, and the next delete
// removes what is left of it.
func TestADeleteThatEndedHalfway(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	piled(t, s, 5_000, "old")
	fillWithText(t, s, "other", "x")
	before, err := s.find(t.Context(), "old")
	if err == nil {
		d := &deletion{store: s.store, gone: func(string) {}, runs: []string{"old"}}
		_, err = d.piece(t.Context(), 1, removal{rows: maxRemovedRows, bytes: maxRemovedBytes})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if n := rowsOf(t, s); n < 3_000 || n >= 5_000 {
		t.Fatalf("%d rows are left: this test shows nothing", n)
	}
	fillWithText(t, s, "old", "another song")
	if now, err := s.find(t.Context(), "old"); err != nil || now.n == before.n {
		t.Fatalf("its name is taken by %+v, %v", now, err)
	}
	if err := s.Delete(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	if left := holding(t, dir, canary); len(left) > 0 {
		t.Errorf("it is left in %v", left)
	}
	if events, err := s.Read(t.Context(), "old", 0, 0); err != nil || len(events) != 39 {
		t.Errorf("the new one has %d events, %v", len(events), err)
	}
}

// TestARunThatIsDeletedMeanwhileIsNotDamaged: who reads one as it goes is told that it is gone.
func TestARunThatIsDeletedMeanwhileIsNotDamaged(t *testing.T) {
	s := open(t, t.TempDir())
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		run := fmt.Sprint("r", round)
		piled(t, s, 10_000, run)
		deleted := make(chan error, 1)
		go func() { deleted <- s.Delete(t.Context(), run) }()
		for {
			events, err := s.Read(t.Context(), run, 0, 39)
			if errors.Is(err, timeline.ErrNotFound) {
				break
			}
			if err != nil || len(events) != 39 {
				t.Fatalf("%d events, %v", len(events), err)
			}
		}
		if err := <-deleted; err != nil {
			t.Fatal(err)
		}
	}
}
