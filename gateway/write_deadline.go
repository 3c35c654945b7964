package gateway

import (
	"net/http"
	"time"
)

// deadlineWriter is the answer to a request that occupies a slot. A client that does not read it gets
// 10 s for every 64 KiB and is then disconnected, like a client that follows a run.
type deadlineWriter struct {
	http.ResponseWriter
	flow *http.ResponseController
}

const stretch = 64 << 10

func newDeadlineWriter(w http.ResponseWriter) *deadlineWriter {
	return &deadlineWriter{w, http.NewResponseController(w)}
}

// Write writes piece by piece. A connection without deadlines, such as a test's recorder, has no
// limit.
func (p *deadlineWriter) Write(data []byte) (n int, err error) {
	for first := true; first || len(data) > 0; first = false {
		now := min(len(data), stretch)
		_ = p.flow.SetWriteDeadline(time.Now().Add(writeTimeout))
		wrote, err := p.ResponseWriter.Write(data[:now])
		n += wrote
		if err != nil {
			return n, err
		}
		data = data[now:]
	}
	return n, nil
}

// Unwrap is for http.ResponseController.
func (p *deadlineWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// done removes the deadline from the connection, for its next answer.
func (p *deadlineWriter) done() { _ = p.flow.SetWriteDeadline(time.Time{}) }
