package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// large is an event that needs new pages.
func large(run string, seq uint64) recovery.Event {
	e := noted(run, seq)
	e.Body = recovery.CancelRequested{Attempt: 1, Text: strings.Repeat("x", 64<<10)}
	return e
}

// TestFaults breaks the store while it is open. A write then fails with a cause and a next
// step, nothing of it is there, and the same write succeeds once the fault is gone.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, broken, mended, reason string
		kind                         error
	}{
		{"full", "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 100000", "no space left on device", timeline.ErrFull},
		{"read-only", "PRAGMA query_only = 1", "PRAGMA query_only = 0", "it cannot be written to", timeline.ErrReadOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			ctx := t.Context()
			l, err := s.Claim(ctx, "r", "a", time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			seq := uint64(0)
			for ; seq < 3; seq++ {
				if err := s.Append(ctx, l, seq, large("r", seq+1)); err != nil {
					t.Fatal(err)
				}
			}
			change(t, s, c.broken)
			for range 3 {
				wantReason(t, s.Append(ctx, l, seq, large("r", seq+1), large("r", seq+2)), c.reason, c.kind)
				wantSeqs(t, s, seq)
			}
			change(t, s, c.mended)
			if err := s.Append(ctx, l, seq, large("r", seq+1), large("r", seq+2)); err != nil {
				t.Fatal(err)
			}
			wantSeqs(t, s, seq+2)
		})
	}
}

// TestBusy: another program writes for longer than the store waits.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	change(t, s, "PRAGMA busy_timeout = 20")
	other, err := sql.Open("sqlite", filepath.Join(dir, "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Claim(t.Context(), "r", "a", time.Hour)
	wantReason(t, err, "another process has been writing to it for 5 s", timeline.ErrBusy)
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), "r", "a", time.Hour); err != nil {
		t.Error(err)
	}
}

func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "timeline.db"), []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), dir)
	wantReason(t, err, "it is damaged", timeline.ErrDamaged)
}

// TestGone: the folder is moved away under a process that has it open.
func TestGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	if err := os.Rename(dir, dir+" elsewhere"); err != nil {
		t.Fatal(err)
	}
	const reason = "it is gone: its folder was moved or deleted, or its disk is not there"
	_, err := s.Claim(t.Context(), "r", "a", time.Hour)
	wantReason(t, err, reason, timeline.ErrGone)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), dir) // somebody begins anew there
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Claim(t.Context(), "r", "a", time.Hour)
	wantReason(t, err, reason, timeline.ErrGone)
	if err := errors.Join(other.Close(), os.RemoveAll(dir), os.Rename(dir+" elsewhere", dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), "r", "a", time.Hour); err != nil {
		t.Error(err)
	}
	if err := os.Rename(dir, dir+" elsewhere"); err != nil { // while it is being written to
		t.Fatal(err)
	}
	for begun := time.Now(); err == nil && time.Since(begun) < time.Minute; {
		_, err = s.Claim(t.Context(), "r", "a", time.Hour)
	}
	wantReason(t, err, reason, timeline.ErrGone)
	if err := os.Rename(dir+" elsewhere", dir); err != nil {
		t.Fatal(err)
	}
}

// TestADiskThatFailsIsNoDamage: SQLite also says "malformed" of a page that the disk did not
// return.
func TestADiskThatFailsIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	l, err := s.Claim(t.Context(), "r", "a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), l, 0, large("r", 1)); err != nil {
		t.Fatal(err)
	}
	if !s.isSound() {
		t.Error("a sound store is called damaged")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "timeline.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(whole) / 2; i < len(whole); i++ {
		whole[i] = 0xA5
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if s.isSound() {
		t.Error("a damaged store is called sound")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil { // it cannot be read
		t.Fatal(err)
	}
	if !s.isSound() {
		t.Error("a store that cannot be read is called damaged")
	}
}

func change(t *testing.T, s opened, pragma string) {
	t.Helper()
	if _, err := s.writer.ExecContext(context.Background(), pragma); err != nil {
		t.Fatal(err)
	}
}

func wantReason(t *testing.T, err error, reason string, kind error) {
	t.Helper()
	e, ok := errors.AsType[*timeline.StoreError](err)
	if !ok || e.Reason != reason || !errors.Is(err, kind) || e.Advice == "" || !strings.Contains(e.Error(), e.Advice) {
		t.Fatalf("got %#v (%v), want the reason %q and what to do", err, err, reason)
	}
}

func wantSeqs(t *testing.T, s opened, last uint64) {
	t.Helper()
	events, err := s.Read(t.Context(), "r", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var seqs []uint64
	for _, e := range events {
		seqs = append(seqs, e.Seq)
	}
	var want []uint64
	for seq := uint64(1); seq <= last; seq++ {
		want = append(want, seq)
	}
	if fmt.Sprint(seqs) != fmt.Sprint(want) {
		t.Fatalf("there are events %v, not %v", seqs, want)
	}
}
