package server

import (
	"io"
	"log/slog"

	"github.com/mulligan-run/mulligan/internal/redact"
)

// secrets are what this process must not show: the keys in its environment, and what its configuration
// names.
var secrets redact.Known

// cleanWriter removes secrets from what is written, one log record at a time.
type cleanWriter struct{ to io.Writer }

func (w cleanWriter) Write(p []byte) (int, error) {
	if clean := secrets.Text(string(p)); clean != string(p) {
		_, err := io.WriteString(w.to, clean)
		return len(p), err
	}
	return w.to.Write(p)
}

// LogTo is a log without secrets, for people or as JSON lines.
func LogTo(w io.Writer, asJSON bool, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if asJSON {
		return slog.New(slog.NewJSONHandler(cleanWriter{w}, options))
	}
	return slog.New(slog.NewTextHandler(cleanWriter{w}, options))
}
