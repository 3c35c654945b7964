package host

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
)

// TestS14WhatAPluginPrintsHasNoSecret: a plugin that was given a key and prints it as it dies. Nothing that
// is kept of that, told or shown has the key.
func TestS14WhatAPluginPrintsHasNoSecret(t *testing.T) {
	t.Parallel()
	const key = "sk-canary-0123456789"
	var log bytes.Buffer
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h := New(WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithStateDir(dir), WithRedact(func(text string) string { return strings.ReplaceAll(text, key, "[redacted]") }))
	if err := h.Add(Spec{Name: "p", Command: []string{"/bin/sh", "-c", `echo "Authorization: $KEY" >&2; echo "{\"@level\":\"error\",\"@message\":\"m\",\"k\":\"$KEY\"}" >&2; echo "bad $KEY"; exit 1`}, Env: []string{"KEY=" + key}}); err != nil {
		t.Fatal(err)
	}
	_ = h.Start(t.Context()) // it does not start
	status := h.Statuses()[0]
	if !strings.Contains(status.LastError, "Authorization: [redacted]") || len(h.Said("p")) != 2 {
		t.Errorf("%q, %q", status.LastError, h.Said("p"))
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	told := map[string]string{"its status": status.LastError, "what it said": strings.Join(h.Said("p"), "\n"), "the log": log.String()}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		told[filepath.Base(path)] = string(text)
		return err
	})
	if err != nil || !strings.Contains(told["p.log"], "[redacted]") {
		t.Errorf("%v: %q", err, told)
	}
	for where, text := range told {
		if strings.Contains(text, key) {
			t.Errorf("%s has the key: %s", where, text)
		}
	}
}

// TestTroubleStaysItself: how often a plugin is not asked because of a trouble, that trouble is what is told,
// and not what was told of it before.
func TestTroubleStaysItself(t *testing.T) {
	t.Parallel()
	s := supervise(Spec{Name: "p", Command: []string{"p"}}, newFolders(), New().logger, unchanged, func() {})
	s.mu.Lock()
	s.begun = true
	s.failed(errors.New("no handshake"))
	for range 10 {
		s.restarts.begin(time.Now())
		s.restarts.ended(time.Now())
	}
	s.mu.Unlock()
	for range 10 {
		_, err := s.ask(t.Context(), hooks.RunError{})
		if err == nil || !strings.HasSuffix(err.Error(), ": no handshake") {
			t.Fatal(err)
		}
		s.record(t.Context(), err, 0)
	}
	if s.lastError != "no handshake" {
		t.Error(s.lastError)
	}
}
