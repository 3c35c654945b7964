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
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

// The provider's models. A delta of the steady one comes every 50 ms.
const (
	steadyModel = "steady"
	fanModel    = "fan"
	stormModel  = "storm"
	openModel   = "open-" // and which crash it is for
	soakModel   = "soak"

	steadyPace = 50 * time.Millisecond
	fanPace    = 100 * time.Millisecond
	openPace   = time.Second
)

const (
	openWords = 90  // of an answer that a crash interrupts
	soakWords = 100 // of a steady answer in the soak
)

// soakFaults are the failures of the soak, which one request in five meets.
var soakFaults = []string{"overloaded", "unavailable", "stream_interrupted", "empty_response", "malformed_response"}

// What the provider's paths begin with for the storm, and where it tells of it.
const (
	stormPath    = "/storm"
	arrivalsPath = "/arrivals"
)

// roleProvider is the first argument of the process that is the provider.
const roleProvider = "provider"

// provider is a lab that fills in stamps, and can keep requests until all of a volley are
// there.
type provider struct {
	lab    *faultlab.Lab
	volley int

	mu       sync.Mutex
	arrivals []time.Time // of the storm's requests
	released chan struct{}
	at       time.Time // when the volley was answered
}

// beProvider serves until standard input ends.
func beProvider(p plan) error {
	lab := faultlab.New()
	lab.Script(steadyModel, faultlab.SlowAnswer(stamped(p.words, 0), steadyPace))
	lab.Script(fanModel, faultlab.SlowAnswer(stamped(int(fanLoud/fanPace), fanWord)+stamped(int((p.fanTime-fanLoud)/fanPace), 0), fanPace))
	var steps []faultlab.Step
	for range p.storm {
		steps = append(steps, faultlab.Overloaded())
	}
	lab.Script(stormModel, append(steps, faultlab.Answer("It is over."))...)
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
	it := &provider{lab: lab, volley: p.storm, released: make(chan struct{})}
	server := &http.Server{Handler: it.handler(), ReadHeaderTimeout: time.Minute}
	defer func() { _ = server.Close() }()
	go func() { _ = server.Serve(listener) }()
	fmt.Println("http://" + listener.Addr().String())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func (p *provider) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+arrivalsPath, p.tell)
	mux.Handle(stormPath+"/", http.StripPrefix(stormPath, http.HandlerFunc(p.storm)))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.lab.ServeHTTP(stamper{w, time.Now()}, r)
	})
	return mux
}

// storm answers a request of the storm: those of the first volley all at once.
func (p *provider) storm(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.arrivals = append(p.arrivals, time.Now())
	if len(p.arrivals) == p.volley {
		p.at = time.Now()
		close(p.released)
	}
	p.mu.Unlock()
	select {
	case <-p.released:
		p.lab.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// told is what the provider tells of the storm.
type told struct {
	Arrivals []time.Time
	At       time.Time // zero while the volley is not complete
}

func (p *provider) tell(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = json.NewEncoder(w).Encode(told{p.arrivals, p.at})
}

// stamper fills in the stamps of what is written.
type stamper struct {
	http.ResponseWriter
	asked time.Time
}

func (s stamper) Write(frame []byte) (int, error) {
	frame = bytes.Clone(frame)
	fill(frame, markAsked, s.asked)
	fill(frame, markSent, time.Now())
	return s.ResponseWriter.Write(frame)
}

// Unwrap is for http.ResponseController.
func (s stamper) Unwrap() http.ResponseWriter { return s.ResponseWriter }
