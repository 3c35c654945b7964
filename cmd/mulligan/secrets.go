package main

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/grpclog"

	"github.com/mulligan-run/mulligan/internal/redact"
)

// secrets are what this process may not show: the keys of its environment, of its providers
// and of their proxies.
var secrets redact.Known

// cleanWriter takes secrets out of what is written, a record of a log at a time.
type cleanWriter struct{ to io.Writer }

func (w cleanWriter) Write(p []byte) (int, error) {
	if clean := secrets.Text(string(p)); clean != string(p) {
		_, err := io.WriteString(w.to, clean)
		return len(p), err
	}
	return w.to.Write(p)
}

// logTo is a log for people, or as JSON lines, without secrets.
func logTo(w io.Writer, asJSON bool, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if asJSON {
		return slog.New(slog.NewJSONHandler(cleanWriter{w}, options))
	}
	return slog.New(slog.NewTextHandler(cleanWriter{w}, options))
}

// ownLogs takes the logs that libraries write to unless they are told otherwise: what they say
// goes to stderr where MULLIGAN_DEBUG is set, and else nowhere. It may hold what was sent or
// received, as when a server sends something on an idle connection.
func ownLogs() {
	secrets.Add(ownKeys()...)
	out := io.Discard
	if os.Getenv("MULLIGAN_DEBUG") != "" {
		out = libraryWriter{cleanWriter{os.Stderr}}
	}
	log.SetOutput(out)
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, out, out))
	hclog.SetDefault(hclog.New(&hclog.LoggerOptions{Output: out}))
}

// libraryWriter leaves out of net/http's complaint what the server sent.
type libraryWriter struct{ to io.Writer }

var beforeContent = []byte(" starting with ")

func (w libraryWriter) Write(p []byte) (int, error) {
	if head, _, found := bytes.Cut(p, beforeContent); found {
		_, err := w.to.Write(append(bytes.Clone(head), '\n'))
		return len(p), err
	}
	return w.to.Write(p)
}
