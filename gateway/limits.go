package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits are how much a Guard lets through (S11, S12). A field of 0 has the default.
type Limits struct {
	HeadBytes int           // request line and headers; 32 KiB
	BodyBytes int64         // 8 MiB, so that pictures fit
	BodyTime  time.Duration // for a body to arrive; 30 s
	JSONDepth int           // of objects and arrays in each other; 64
	Streams   int64         // event streams at a time; 4,096, and no more than descriptors allow
	Writes    int           // requests that change something at a time; 64
	Reads     int           // requests that read something at a time; 64
	Patience  time.Duration // that a request waits for its turn where too many go on; 10 s
	Failures  int           // wrong tokens of one address in a minute, and wrong codes; 10
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

// maxPath is the most that a path with its query holds, in bytes.
const maxPath = 8 << 10

// checkHead bounds the request line and the headers, in case that the server before it does not.
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

// checkForm refuses what only a proxy is asked, and methods that nothing here has. A
// preflight (OPTIONS) is one of them.
func checkForm(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return refusal{code: http.StatusMethodNotAllowed, why: "there is no such method"}
	}
	if r.URL.IsAbs() || r.URL.Host != "" || !strings.HasPrefix(r.URL.Path, "/") {
		return refusal{code: http.StatusMisdirectedRequest, why: "this gateway is no proxy: send the path alone"}
	}
	return nil
}

// soon is when a request may be made again that would have been served in a moment.
const soon = time.Second

// load counts what goes on. There is one token at a time, so these are its counts.
type load struct {
	streams       atomic.Int64
	writes, reads chan struct{} // their places
}

// begin counts a request until done is called. Reads and writes are over in milliseconds, so
// they wait for their turn; a stream that is one too many is refused at once. A request that
// changes something and is answered by a stream has its turn until begun is called.
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
