package server_test

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/server"
)

// The page, the HTTP API, the store, plugins and tools, in a program of one's own: what
// mulligan.yaml settles, for a moment.
func Example() {
	c, err := config.Parse([]byte("model: fable/fable-1"))
	if err != nil {
		panic(err)
	}
	if c.State, err = os.MkdirTemp("", "mulligan-"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(c.State) }()
	srv, err := server.New(c, nil)
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	err = srv.Serve(ctx, &server.Reach{Address: "127.0.0.1:0"}, slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key != slog.MessageKey {
				return slog.Attr{}
			}
			if a.Value.String() == "listening" {
				stop()
			}
			return a
		},
	})))
	if err != nil {
		panic(err)
	}
	// Output:
	// msg=serving
	// msg=listening
	// msg=stopped
}
