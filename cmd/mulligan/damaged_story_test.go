package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// TestADamagedRunCanBeRemoved: nobody can read a run that has not ended, or end it; it can be
// deleted, and its session goes on.
func TestADamagedRunCanBeRemoved(t *testing.T) {
	t.Parallel()
	h := newHome(t, "answer:One., 529, answer:Three.")
	h.mulligan(0, "run", "--session", "s", "one")
	h.mulligan(3, "run", "--session", "s", "--auto-recover=false", "two")
	list := h.mulligan(0, "runs", "list", "--json", "--limit", "1")
	run, _, _ := strings.Cut(list[strings.Index(list, `"run":"`)+len(`"run":"`):], `"`)

	db, err := sql.Open("sqlite", filepath.Join(h.state(), "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"recent", "events"} {
		_, err := db.ExecContext(t.Context(), "UPDATE "+table+` SET event = CAST(replace(CAST(event AS TEXT), '"claimed"', '"cla') AS BLOB)
			WHERE run = (SELECT n FROM runs WHERE run = ?)`, run)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	said, err := h.command("runs", "cancel", run).CombinedOutput()
	if err == nil || !strings.Contains(string(said), "is damaged after event 1") || !strings.Contains(string(said), "delete it") {
		t.Errorf("cancel: %v, %s", err, said)
	}
	h.mulligan(0, "runs", "delete", run)
	if out := h.mulligan(0, "run", "--session", "s", "three"); !strings.Contains(out, "Three.") {
		t.Errorf("the session goes on with %q", out)
	}
	h.asked(3)
}
