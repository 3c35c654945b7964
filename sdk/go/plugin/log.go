package plugin

import (
	"context"
	"log/slog"
	"os"
	"strings"
)

// stderr is the process's standard error.
var stderr = os.Stderr

var lines = slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: rename})

type loggerKey struct{}

// Log returns the logger of a call. It writes one JSON object per line to standard
// error, with the ids of the run and its session; the host puts it into its log.
// Outside a call it writes no ids.
func Log(ctx context.Context) *slog.Logger {
	if logger, ok := ctx.Value(loggerKey{}).(*slog.Logger); ok {
		return logger
	}
	return slog.New(lines)
}

func withLog(ctx context.Context, h slog.Handler, run, session string) context.Context {
	logger := slog.New(h).With("run", run)
	if session != "" {
		logger = logger.With("session", session)
	}
	return context.WithValue(ctx, loggerKey{}, logger)
}

// rename gives slog's keys the names that go-plugin's hosts know.
func rename(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.TimeKey:
		a.Key = "@timestamp"
	case slog.MessageKey:
		a.Key = "@message"
	case slog.LevelKey:
		a = slog.String("@level", strings.ToLower(a.Value.String()))
	}
	return a
}
