package probe_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/probe"
	"github.com/mulligan-run/mulligan/server"
)

// TestProbe: a serve is reported as ready as soon as it is, at every kind of address, and no longer
// once it has ended. Only the state folder is written to.
func TestProbe(t *testing.T) {
	socket := filepath.Join(shortDir(t), "s")
	for _, address := range []string{"127.0.0.1:0", "unix:" + socket, "0.0.0.0:0"} {
		t.Run(address, func(t *testing.T) {
			c, err := config.Parse([]byte("model: fable/fable-1\nplugins: []"))
			if err != nil {
				t.Fatal(err)
			}
			c.State = t.TempDir()
			srv, err := server.New(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			if err := probe.Ready(t.Context(), c.State); err == nil {
				t.Error("one that has not begun is ready")
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- srv.Serve(ctx, &server.Reach{Address: address, Expose: true}, slog.New(slog.DiscardHandler))
			}()
			for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
				err := probe.Ready(t.Context(), c.State)
				if err == nil {
					break
				}
				if time.Since(began) > 30*time.Second {
					t.Fatal(err)
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if err := probe.Ready(t.Context(), c.State); err == nil {
				t.Error("one that has ended is ready")
			}
		})
	}
}

// shortDir is a folder whose path is short enough for a socket in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
