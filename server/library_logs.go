package server

import (
	"bytes"
	"io"
	"log"
	"os"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/grpclog"

	"github.com/mulligan-run/mulligan/config"
)

// OwnLogs redirects the logs of libraries, which go to standard error by default: to stderr if
// MULLIGAN_DEBUG is set, and otherwise nowhere. They may contain what was sent or received, as
// when a server sends something on an idle connection.
func OwnLogs() {
	secrets.Add(config.OwnKeys()...)
	out := io.Discard
	if os.Getenv("MULLIGAN_DEBUG") != "" {
		out = libraryWriter{cleanWriter{os.Stderr}}
	}
	log.SetOutput(out)
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, out, out))
	hclog.SetDefault(hclog.New(&hclog.LoggerOptions{Output: out}))
}

// libraryWriter removes from net/http's messages what the server sent.
type libraryWriter struct{ to io.Writer }

var beforeContent = []byte(" starting with ")

func (w libraryWriter) Write(p []byte) (int, error) {
	if head, _, found := bytes.Cut(p, beforeContent); found {
		_, err := w.to.Write(append(bytes.Clone(head), '\n'))
		return len(p), err
	}
	return w.to.Write(p)
}
