package gateway

import (
	"net/http"
	"time"
)

// paced is the answer to a request that has a place others wait for: who does not read it has
// 10 s for every 64 KiB, and is cut then, as who follows a run is.
type paced struct {
	http.ResponseWriter
	flow *http.ResponseController
}

const stretch = 64 << 10

func newPaced(w http.ResponseWriter) *paced {
	return &paced{w, http.NewResponseController(w)}
}

// Write writes piece by piece. Whatever has no deadlines, such as a test's recorder, goes without.
func (p *paced) Write(data []byte) (n int, err error) {
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
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// done gives the connection back: its next answer may take its time again.
func (p *paced) done() { _ = p.flow.SetWriteDeadline(time.Time{}) }
