package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound what a Guard lets through (S11, S12). A field of 0 means the default.
type Limits struct {
	HeadBytes int           // request line and headers; 32 KiB
	BodyBytes int64         // 8 MiB, so that pictures fit
	BodyTime  time.Duration // for a body to arrive; 30 s
	JSONDepth int           // nesting of objects and arrays; 64
	Streams   int64         // concurrent event streams; 4,096, but no more than the descriptors allow
	Writes    int           // concurrent requests that change something; 64
	Reads     int           // concurrent requests that read something; 64
	Patience  time.Duration // how long a request waits for its turn; 10 s
	Failures  int           // wrong tokens per address and minute, and wrong codes; 10
}

func (l Limits) orDefault() Limits {
	set(&l.HeadBytes, 32<<10)
	set(&l.BodyBytes, maxBody)
	set(&l.BodyTime, 30*time.Second)
	set(&l.JSONDepth, 64)
	set(&l.Streams, min(4096, maxConnections()*3/4)) // the rest is for requests
	set(&l.Writes, 64)
	set(&l.Reads, 64)
	set(&l.Patience, 10*time.Second)
	set(&l.Failures, 10)
	return l
}

func set[N int | int64 | time.Duration](field *N, usual N) {
	if *field <= 0 {
		*field = usual
	}
}

// maxPath bounds a path with its query, in bytes.
const maxPath = 8 << 10

// checkHead bounds the request line and the headers, in case the server in front does not.
func (g *Guard) checkHead(r *http.Request) error {
	if len(r.RequestURI) > maxPath {
		return refusal{code: http.StatusRequestURITooLong, why: "the address is too long"}
	}
	size := len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	if size > g.cfg.Limits.HeadBytes {
		return refusal{code: http.StatusRequestHeaderFieldsTooLarge, why: "the headers are too large"}
	}
	return nil
}

// checkForm refuses requests meant for a proxy, and methods that no route has,
// including OPTIONS, so that preflights fail.
func checkForm(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return refusal{code: http.StatusMethodNotAllowed, why: "there is no such method"}
	}
	if r.URL.IsAbs() || r.URL.Host != "" || !strings.HasPrefix(r.URL.Path, "/") {
		return refusal{code: http.StatusMisdirectedRequest, why: "this gateway is not a proxy: send the path alone"}
	}
	return nil
}

// soon is when to retry a request that would have been served in a moment.
const soon = time.Second

// load counts requests in progress. There is only one valid token, so one set of
// counts is enough.
type load struct {
	streams       atomic.Int64
	writes, reads chan struct{} // one slot for each request
}

// begin counts a request until done is called. Reads and writes take milliseconds, so they
// wait for their turn; a stream beyond the limit is refused at once. A write that is
// answered by a stream occupies its slot until begun is called.
func (g *Guard) begin(r *http.Request) (done, begun func(), err error) {
	begun = func() {}
	if isStream(r) {
		leave, err := g.beginStream()
		if err != nil || !isWrite(r.Method) {
			return leave, begun, err
		}
		turn, err := g.turn(r, g.load.writes, changes)
		if err != nil {
			leave()
			return nil, nil, err
		}
		turn = sync.OnceFunc(turn)
		return func() { turn(); leave() }, turn, nil
	}
	if isWrite(r.Method) {
		done, err = g.turn(r, g.load.writes, changes)
	} else {
		done, err = g.turn(r, g.load.reads, "requests")
	}
	return done, begun, err
}

const changes = "requests that change something"

func (g *Guard) beginStream() (done func(), err error) {
	most := g.cfg.Limits.Streams
	if g.load.streams.Add(1) > most {
		g.load.streams.Add(-1)
		return nil, refusal{
			code: http.StatusTooManyRequests, after: soon,
			why: strconv.FormatInt(most, 10) + " streams of events are open, and no more are possible: end some of them",
		}
	}
	return func() { g.load.streams.Add(-1) }, nil
}

func (g *Guard) turn(r *http.Request, places chan struct{}, what string) (done func(), err error) {
	patience := time.NewTimer(g.cfg.Limits.Patience)
	defer patience.Stop()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-r.Context().Done():
		return nil, refusal{code: http.StatusServiceUnavailable, why: gaveUp}
	case <-patience.C:
		return nil, refusal{
			code: http.StatusTooManyRequests, after: soon,
			why: strconv.Itoa(cap(places)) + " " + what + " are being served, and this one did not get its turn: try again",
		}
	}
}

// isStream reports whether a request is answered for as long as a run goes on.
func isStream(r *http.Request) bool {
	switch path := r.URL.Path; r.Method {
	case http.MethodGet:
		return strings.HasSuffix(path, "/events") || strings.HasPrefix(path, aisdkPath+"/") && strings.HasSuffix(path, "/stream")
	case http.MethodPost:
		return path == aisdkPath || path == aguiPath
	}
	return false
}
