package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/show"
)

// TestDriverLogsWhatAnEngineSays: the log of serve has what its people should know of the programs
// behind models, here that Pi is too old to be trusted.
func TestDriverLogsWhatAnEngineSays(t *testing.T) {
	pi := filepath.Join(t.TempDir(), "pi")
	if err := os.WriteFile(pi, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo 0.73.1\n"), 0o700); err != nil { //nolint:gosec // it is started
		t.Fatal(err)
	}
	c, err := config.Parse(fmt.Appendf(nil, `plugins: []
model: pi/any/model
state: %s
providers:
  pi: {type: pi, command: [%s]}
`, t.TempDir(), pi))
	if err != nil {
		t.Fatal(err)
	}
	srv := &Server{Screen: show.New(&bytes.Buffer{}, &bytes.Buffer{}), Config: c, Dir: t.TempDir()}
	if err := srv.OpenLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	var log bytes.Buffer
	r, models, err := srv.Driver(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	if _, err := r.Run(t.Context(), "hi"); err == nil {
		t.Fatal("a Pi that only says its version has answered")
	}
	if !strings.Contains(log.String(), "Pi 0.73.1 retries where nobody sees it") {
		t.Errorf("the log does not warn: %q", log.String())
	}
}
