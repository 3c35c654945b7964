package faultlab

import (
	"crypto/rand"
	"net/http"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/wire"
)

const (
	maxKept      = 1024     // requests remembered
	maxKeptBytes = 64 << 20 // of their bodies together
)

// Request is one request that a lab was asked on one of its wires.
type Request struct {
	Number  int    // from 1, in order
	Wire    string // "anthropic", "openai", "responses" or "gemini"
	Model   string // as asked for; empty if the request could not be read
	Method  string
	Path    string
	Header  http.Header // with keys and cookies replaced by "[redacted]"
	Body    []byte      // as received, up to 8 MiB
	Step    string      // the name of the step that was played; "rejected" if none was
	Refused string      // why, if it was rejected
	Status  int         // of HTTP; 0 = none was sent, either yet or at all
	At      time.Time   // when its body had been read
	Ended   time.Time   // when its answer ended; zero = it has not ended

	settled bool   // Status is final
	version uint64 // the memory's version when it last changed
}

const (
	redacted     = "[redacted]"
	stepRejected = "rejected"
)

// memory is what a lab remembers about requests. Its version changes whenever something visible in
// the lab does, for clients that poll; epoch distinguishes labs.
type memory struct {
	requests []Request // their numbers have no gap
	bytes    int
	asked    int
	version  uint64
	epoch    string
}

func newMemory() memory { return memory{epoch: rand.Text()} }

func (m *memory) change() uint64 {
	m.version++
	return m.version
}

// find gives a remembered request; nil if it is not remembered.
func (m *memory) find(number int) *Request {
	if len(m.requests) == 0 {
		return nil
	}
	i := number - m.requests[0].Number
	if i < 0 || i >= len(m.requests) {
		return nil
	}
	return &m.requests[i]
}

// since gives the requests that have changed after a version.
func (m *memory) since(version uint64) []Request {
	var changed []Request
	for _, r := range m.requests {
		if r.version > version {
			changed = append(changed, r)
		}
	}
	return changed
}

// Requests returns the requests, in order. A lab remembers the last 1024 requests and at most
// 64 MiB of their bodies. Treat the bodies as read-only.
func (l *Lab) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.memory.requests)
}

// keep remembers a request and gives it its number.
func (l *Lab) keep(r Request) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &l.memory
	m.asked++
	r.Number, r.version = m.asked, m.change()
	m.requests = append(m.requests, r)
	m.bytes += len(r.Body)
	for len(m.requests) > maxKept || m.bytes > maxKeptBytes {
		m.bytes -= len(m.requests[0].Body)
		m.requests = slices.Delete(m.requests, 0, 1)
	}
	return r.Number
}

// answered sets the status of a request; 0 = it gets none.
func (l *Lab) answered(number, status int) {
	l.note(number, func(r *Request) { r.Status = status })
}

// ended records that a request's answer is over, however it went.
func (l *Lab) ended(number int) {
	l.note(number, func(r *Request) { r.Ended = time.Now() })
}

// note changes what is remembered of a request, if it still is. The first change settles the
// request's status, and is reported to the watcher.
func (l *Lab) note(number int, change func(*Request)) {
	l.mu.Lock()
	r := l.memory.find(number)
	if r == nil {
		l.mu.Unlock()
		return
	}
	first := !r.settled
	change(r)
	r.settled, r.version = true, l.memory.change()
	told := *r
	l.mu.Unlock()
	if first && l.watch != nil {
		l.watch(told)
	}
}

// watched tells the lab which status a request gets.
type watched struct {
	http.ResponseWriter
	lab    *Lab
	number int
}

func (w watched) WriteHeader(status int) {
	w.lab.answered(w.number, status)
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (x *exchange) record(body []byte, step Step, refused *wire.Report) Request {
	r := Request{
		Wire: x.service.name, Model: x.ask.model,
		Method: x.r.Method, Path: x.r.URL.Path, Header: redact(x.r.Header),
		Body: body, Step: step.Name(), At: time.Now(),
	}
	if refused != nil {
		r.Step, r.Refused = stepRejected, refused.Message
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
