package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/show"
)

// TestABreachIsTold: also when the run was over before its plugins had started.
func TestABreachIsTold(t *testing.T) {
	for _, over := range []bool{false, true} {
		folder := t.TempDir()
		program := filepath.Join(folder, "plugin")
		write := func(words string) {
			if err := os.WriteFile(program, []byte("#!/bin/sh\n# "+words+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write("as it was pinned")
		p := config.Plugin{Name: "mine", Command: []string{program}}
		now, err := trust.Examine(config.FolderOf(p))
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		srv, err := New(&config.Config{State: t.TempDir(), Plugins: []config.Plugin{p}}, show.New(io.Discard, &said))
		if err != nil {
			t.Fatal(err)
		}
		srv.Lock = &trust.Lock{Plugins: map[string]trust.Entry{"mine": {SHA256: now.Sha256, Files: now.Files, Contents: trust.Contents(now.Folder)}}}
		write("changed")
		ctx, end := context.WithCancelCause(t.Context())
		if over {
			end(errors.New("the run is over"))
		}
		err = srv.StartPlugins(ctx)
		end(nil)
		srv.Close()
		if err != nil || !strings.Contains(said.String(), "Plugin mine is not what was pinned") || !strings.Contains(said.String(), "changed plugin") {
			t.Errorf("the run is over: %v: %v, told:\n%s", over, err, said.String())
		}
	}
}
