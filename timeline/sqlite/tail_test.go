package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestTailElsewhere: a follower of another process sees what the owner saved, all of it when it
// comes and then what is new, and the end of the attempt in its event.
func TestTailElsewhere(t *testing.T) {
	dir := t.TempDir()
	owner, other := open(t, dir), open(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	l, err := owner.Claim(ctx, "r", "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	write := func(seq uint64, b recovery.Body) {
		t.Helper()
		if err := owner.Append(ctx, l, seq-1, recovery.Event{Run: "r", Seq: seq, Time: time.Now(), Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	save := func(attempt uint64, text string) {
		t.Helper()
		if err := owner.SaveTail(ctx, l, timeline.Tail{Attempt: attempt, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	write(1, recovery.Started{Model: "a/one"})
	write(2, recovery.Began{Attempt: 1, Round: 1, Model: "a/one"})
	save(1, "one ")
	text, attempt := "", uint64(1)
	for item, err := range other.Follow(ctx, "r", 0) {
		switch {
		case err != nil:
			t.Fatal(err)
		case item.Event != nil:
			if _, ended := item.Event.Body.(recovery.Ended); ended {
				return
			}
			continue
		}
		d := item.Delta
		if d.Attempt != attempt || d.Offset+len(d.Text) <= len(text) {
			continue // it is known, or void
		}
		if d.Offset > len(text) {
			t.Fatalf("after %q of attempt %d comes %+v", text, attempt, d)
		}
		switch text = text[:d.Offset] + d.Text; text {
		case "one ":
			save(1, "one two ")
		case "one two ":
			write(3, recovery.Failed{Attempt: 1, Text: text})
			write(4, recovery.Began{Attempt: 2, Round: 1, Model: "a/one"})
			save(2, "again")
			text, attempt = "", 2
		case "again":
			write(5, recovery.Ended{Status: recovery.StatusCancelled})
		default:
			t.Fatalf("it reads %q", text)
		}
	}
	t.Fatal("the follower stopped")
}

// TestNoTailIsLeft: once an attempt has ended its text is in its event and nowhere else.
func TestNoTailIsLeft(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	l, err := s.Claim(ctx, "r", "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range []recovery.Body{recovery.Started{Model: "a/one"}, recovery.Began{Attempt: 1, Round: 1, Model: "a/one"}, recovery.Answered{Attempt: 1}} {
		seq := uint64(i) + 1 //nolint:gosec // small
		if seq == 3 {
			if err := s.SaveTail(ctx, l, timeline.Tail{Attempt: 1, Text: "Hello"}); err != nil {
				t.Fatal(err)
			}
			s.forgets(t)
		}
		if err := s.Append(ctx, l, seq-1, recovery.Event{Run: "r", Seq: seq, Time: time.Now(), Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	left := 0
	if err := s.each(ctx, "SELECT count(*) FROM tails", func(r row) error { return r.Scan(&left) }); err != nil || left > 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}

// forgets makes the committer read the rows of runs again, as after another process's write.
func (s opened) forgets(t *testing.T) {
	t.Helper()
	if err := s.between(t.Context(), func(context.Context) error { s.statements.forget(); return nil }); err != nil {
		t.Fatal(err)
	}
}
