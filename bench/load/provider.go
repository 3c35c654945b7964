package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

// The provider's models. The steady one sends a delta every 50 ms.
const (
	steadyModel = "steady"
	fanModel    = "fan"
	stormModel  = "storm"
	openModel   = "open-" // followed by the number of the crash
	soakModel   = "soak"
	callModel   = "call"   // each word says whose call it is
	loudModel   = "loud"   // likewise, in long words
	volleyModel = "volley" // its first requests get a 529

	steadyPace = 50 * time.Millisecond
	fanPace    = 100 * time.Millisecond
	openPace   = time.Second
)

const (
	openWords = 90  // in an answer that a crash interrupts
	soakWords = 100 // in a steady answer of the soak
)

// soakFaults are the failures of the soak; one request in five gets one.
var soakFaults = []string{"overloaded", "unavailable", "stream_interrupted", "empty_response", "malformed_response"}

// Prefixes of the provider's paths for the storm, and the path of its report.
const (
	stormPath    = "/storm"
	callersPath  = "/callers" // for calls through the proxy
	arrivalsPath = "/arrivals"
)

// roleProvider is the first argument of the provider's process.
const roleProvider = "provider"

// provider is a lab that fills in stamps, and that can hold requests until a whole volley
// has arrived.
type provider struct {
	lab           *faultlab.Lab
	storm, volley *volley
	here          atomic.Int64 // calls through the proxy in progress
}

// volley holds requests until enough have arrived, and then answers all of them at
// once.
type volley struct {
	size int

	mu       sync.Mutex
	arrivals []time.Time
	released chan struct{}
	at       time.Time // when it was answered
}

func newVolley(size int) *volley { return &volley{size: size, released: make(chan struct{})} }

// beProvider serves until standard input ends.
func beProvider(p plan) error {
	lab := faultlab.New()
	lab.Script(steadyModel, faultlab.SlowAnswer(stamped(p.words, 0), steadyPace))
	lab.Script(fanModel, faultlab.SlowAnswer(stamped(int(fanLoud/fanPace), fanWord)+stamped(int((p.fanTime-fanLoud)/fanPace), 0), fanPace))
	overloaded := slices.Repeat([]faultlab.Step{faultlab.Overloaded()}, p.storm)
	lab.Script(stormModel, append(overloaded, faultlab.Answer("It is over."))...)
	lab.Script(callModel, faultlab.SlowAnswer(called(p.words, 0), steadyPace))
	lab.Script(loudModel, faultlab.SlowAnswer(called(p.words, loudWord), steadyPace))
	lab.Script(volleyModel, append(slices.Repeat([]faultlab.Step{faultlab.Overloaded()}, p.callers), faultlab.Answer(called(volleyWords, 0)))...)
	for i := range p.kills {
		steps := slices.Repeat([]faultlab.Step{faultlab.SlowAnswer(stamped(openWords, 0), openPace)}, p.open)
		lab.Script(openModel+strconv.Itoa(i), append(steps, faultlab.Answer("It is over."))...)
	}
	lab.Script(soakModel, faultlab.SlowAnswer(stamped(soakWords, 0), steadyPace))
	if err := lab.Chaos(faultlab.Chaos{Seed: 1, Rate: 0.2, Rows: soakFaults, Models: []string{soakModel}}); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	it := &provider{lab: lab, storm: newVolley(p.storm), volley: newVolley(p.callers)}
	server := &http.Server{Handler: it.handler(), ReadHeaderTimeout: time.Minute, ConnContext: narrow}
	defer func() { _ = server.Close() }()
	go func() { _ = server.Serve(listener) }()
	fmt.Println("http://" + listener.Addr().String())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// roomDown bounds the kernel's buffer for an answer on its way to the gateway, in bytes. By
// default it could take a whole answer, whether or not anybody reads it.
const roomDown = 64 << 10

func narrow(ctx context.Context, conn net.Conn) context.Context {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(roomDown)
	}
	return ctx
}

func (p *provider) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+arrivalsPath, p.tell)
	mux.Handle(stormPath+"/", http.StripPrefix(stormPath, http.HandlerFunc(p.answerStorm)))
	mux.Handle(callersPath+"/", http.StripPrefix(callersPath, http.HandlerFunc(p.called)))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.lab.ServeHTTP(stamper{w, time.Now(), ""}, r)
	})
	return mux
}

// answerStorm answers a request of the storm.
func (p *provider) answerStorm(w http.ResponseWriter, r *http.Request) {
	if p.storm.meet(r.Context()) {
		p.lab.ServeHTTP(w, r)
	}
}

// called answers a call through the proxy with its caller's number in every word.
func (p *provider) called(w http.ResponseWriter, r *http.Request) {
	p.here.Add(1)
	defer p.here.Add(-1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	by, _ := digitsOf(string(body), markBy)
	if bytes.Contains(body, []byte(`"`+volleyModel+`"`)) && !p.volley.meet(r.Context()) {
		return
	}
	p.lab.ServeHTTP(stamper{w, time.Now(), by}, r)
}

// meet waits for the rest of the first volley; false if the client has gone.
func (v *volley) meet(ctx context.Context) bool {
	v.mu.Lock()
	v.arrivals = append(v.arrivals, time.Now())
	if len(v.arrivals) == v.size {
		v.at = time.Now()
		close(v.released)
	}
	v.mu.Unlock()
	select {
	case <-v.released:
		return true
	case <-ctx.Done():
		return false
	}
}

// told is the provider's report.
type told struct {
	Storm, Volley arrived
	Here          int64 // calls through the proxy in progress
}

// arrived are the requests of a volley, and all later ones.
type arrived struct {
	Arrivals []time.Time
	At       time.Time // zero while the volley is incomplete
}

func (v *volley) arrived() arrived {
	v.mu.Lock()
	defer v.mu.Unlock()
	return arrived{slices.Clone(v.arrivals), v.at}
}

func (p *provider) tell(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(told{p.storm.arrived(), p.volley.arrived(), p.here.Load()})
}

// stamper fills in the stamps in what is written.
type stamper struct {
	http.ResponseWriter
	asked time.Time
	by    string // the caller's mark
}

func (s stamper) Write(frame []byte) (int, error) {
	frame = bytes.Clone(frame)
	fill(frame, markAsked, s.asked)
	fill(frame, markSent, time.Now())
	if at := bytes.Index(frame, []byte(markBy+blank)); at >= 0 && s.by != "" {
		copy(frame[at+len(markBy):], s.by)
	}
	return s.ResponseWriter.Write(frame)
}

// Unwrap is for http.ResponseController.
func (s stamper) Unwrap() http.ResponseWriter { return s.ResponseWriter }
