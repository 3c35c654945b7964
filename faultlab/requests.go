package faultlab

import (
	"net/http"
	"slices"
	"time"
)

// Request is one request that a lab was asked on one of its wires.
type Request struct {
	Wire    string // "anthropic", "openai", "responses" or "gemini"
	Model   string // as asked for; empty if the request could not be read
	Method  string
	Path    string
	Header  http.Header // with keys and cookies replaced by "[redacted]"
	Body    []byte      // as received, up to 8 MiB
	Step    string      // the name of the step played; "rejected" if none was
	Refused string      // why, if it was rejected
	At      time.Time   // when its body had been read
}

const (
	redacted     = "[redacted]"
	stepRejected = "rejected"
)

// Requests returns what was asked, in order. A lab remembers the last 1024
// requests and at most 64 MiB of their bodies. Treat the bodies as read-only.
func (l *Lab) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.kept)
}

func (l *Lab) keep(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, r)
	l.keptBytes += len(r.Body)
	for len(l.kept) > maxKept || l.keptBytes > maxKeptBytes {
		l.keptBytes -= len(l.kept[0].Body)
		l.kept = slices.Delete(l.kept, 0, 1)
	}
}

func (x *exchange) record(body []byte, step Step, refused *fault) Request {
	r := Request{
		Wire: x.wire.name, Model: x.ask.model,
		Method: x.r.Method, Path: x.r.URL.Path, Header: redact(x.r.Header),
		Body: body, Step: step.Name(), At: time.Now(),
	}
	if refused != nil {
		r.Step, r.Refused = stepRejected, refused.message
	}
	return r
}

func redact(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Authorization", "Proxy-Authorization", "Cookie"} {
		if h.Get(name) != "" {
			h.Set(name, redacted)
		}
	}
	return h
}
