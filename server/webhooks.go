package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/webhook"
)

// tellWebhooks reports what happens to runs to the configured hooks, until ctx ends; then stopped
// waits until the cursors are saved.
func (srv *Server) tellWebhooks(ctx context.Context, log *slog.Logger) (stopped func(), err error) {
	hooks, err := srv.Config.Hooks(os.Getenv)
	if err != nil || len(hooks) == 0 {
		return func() {}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	sending, err := webhook.Open(ctx, srv.Log, filepath.Join(srv.Dir, "webhooks"), log, hooks...)
	if err != nil {
		cancel()
		return nil, exit.Usagef("webhooks: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		sending.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}
