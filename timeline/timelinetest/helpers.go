package timelinetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// long bounds every wait of a test; no test measures time with it.
const long = 30 * time.Second

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	t.Cleanup(cancel)
	return ctx
}

// event is a small event; text distinguishes it from another with the same seq.
func event(run string, seq uint64, text string) recovery.Event {
	return with(run, seq, recovery.Noted{Topic: text})
}

func with(run string, seq uint64, body recovery.Body) recovery.Event {
	return recovery.Event{Run: run, Seq: seq, Time: epoch.Add(time.Duration(seq) * time.Second), Text: "a line", Body: body}
}

func started(run, session, says string) recovery.Event {
	return with(run, 1, recovery.Started{
		Model: "lab/one", Session: session,
		Input: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: says}}}},
	})
}

func claim(t *testing.T, log timeline.Log, run, owner string) timeline.Lease {
	t.Helper()
	l, err := log.Claim(t.Context(), run, owner, time.Hour)
	if err != nil {
		t.Fatalf("claim: %v", err)
	}
	return l
}

func appendAll(t *testing.T, log timeline.Log, l timeline.Lease, after uint64, events ...recovery.Event) {
	t.Helper()
	if err := log.Append(t.Context(), l, after, events...); err != nil {
		t.Fatalf("append after %d: %v", after, err)
	}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// wantEvents compares what is read of run r with the stored form of what was written.
func wantEvents(t *testing.T, log timeline.Log, want ...recovery.Event) {
	t.Helper()
	got, err := log.Read(t.Context(), "r", 0, 0)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	sameEvents(t, got, want)
}

func sameEvents(t *testing.T, got, want []recovery.Event) {
	t.Helper()
	if g, w := stored(t, got), stored(t, want); g != w {
		t.Fatalf("events differ\n got %s\nwant %s", g, w)
	}
}

func stored(t *testing.T, events []recovery.Event) string {
	t.Helper()
	text := ""
	for _, e := range events {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("\n  %s", b)
	}
	return text
}
