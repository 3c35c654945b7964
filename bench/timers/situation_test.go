package timers

import (
	"context"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/anthropic"
	"github.com/mulligan-run/mulligan/provider/gemini"
	"github.com/mulligan-run/mulligan/provider/openai"
	"github.com/mulligan-run/mulligan/provider/responses"
)

// entry is a provider as it is configured.
type entry struct {
	name, wire string
	local      bool // it is a local model server, with longer timeouts
}

var entries = []entry{
	{name: "anthropic", wire: "anthropic"},
	{name: "openai", wire: "openai"},
	{name: "openai-responses", wire: "responses"},
	{name: "gemini", wire: "gemini"},
	{name: "openrouter", wire: "openai"},
	{name: "litellm", wire: "openai", local: true},
	{name: "ollama", wire: "openai", local: true},
}

func (e entry) model() string { return e.name + "/m" }

// adapt makes the entry's adapter, which reaches its provider only through dial.
func (e entry) adapt(dial func(ctx context.Context, network, address string) (net.Conn, error)) (llm.Model, error) {
	const base = "http://127.0.0.1:1"
	key := func() (string, error) { return "sk-test-0123456789abcdef", nil }
	switch e.wire {
	case "anthropic":
		return anthropic.New(anthropic.Config{Name: e.name, Key: key, BaseURL: base, DialContext: dial})
	case "responses":
		return responses.New(responses.Config{Name: e.name, Key: key, BaseURL: base + "/v1", DialContext: dial})
	case "gemini":
		return gemini.New(gemini.Config{Name: e.name, Key: key, BaseURL: base, DialContext: dial})
	}
	return openai.New(openai.Config{Name: e.name, Key: key, BaseURL: base + "/v1", DialContext: dial})
}

// turn is how the provider responds to one request.
type turn struct {
	dial  dialing
	mute  bool          // headers, and no event at all
	step  faultlab.Step // otherwise: what the lab plays
	noise noise         // what is sent meanwhile, every noiseEvery
}

type dialing int

const (
	connects dialing = iota
	hangs            // the connection attempt never returns
	refused
)

// noiseEvery is the pause before each piece of noise.
const noiseEvery = 10 * time.Second

// latency is how long a provider takes to begin, if it answers at all.
const latency = time.Second

// noise returns the n-th piece of what a wire can send without progress.
type noise func(wire string, n int) string

// ping is the wire's keep-alive.
func ping(wire string, _ int) string {
	if wire == "anthropic" {
		return "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	}
	return ": keep-alive\n\n"
}

// drip is one byte of an event that never ends.
func drip(_ string, n int) string {
	const event = `data: {"`
	if n < len(event) {
		return event[n : n+1]
	}
	return "x"
}

func says(step faultlab.Step) turn { return turn{step: step} }

// scriptedProvider is a provider that plays one turn for each request; the last one repeats.
type scriptedProvider struct {
	entry   entry
	turns   []turn
	lab     *faultlab.Lab
	network *faultlab.MemListener
	server  *http.Server

	mu       sync.Mutex
	requests int
}

func open(e entry, turns ...turn) *scriptedProvider {
	s := &scriptedProvider{entry: e, turns: turns, lab: faultlab.New(), network: faultlab.NewMemListener()}
	s.server = &http.Server{Handler: s}
	go func() { _ = s.server.Serve(s.network) }()
	return s
}

// stuckFor is how long code that ignores its context sleeps: longer than any timer.
const stuckFor = 100 * 24 * time.Hour

func (s *scriptedProvider) close() {
	_ = s.lab.Close()
	_ = s.server.Close()
	time.Sleep(2 * stuckFor) // until everything that still waits has ended
}

func (s *scriptedProvider) model(t *testing.T) llm.Model {
	t.Helper()
	model, err := s.entry.adapt(s.dial)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// dial counts a request that never gets a connection.
func (s *scriptedProvider) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	switch s.peek().dial {
	case refused:
		s.take()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case hangs:
		s.take()
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Minute): // the system's own patience
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ETIMEDOUT}
	}
	return s.network.Dial(ctx)
}

func (s *scriptedProvider) peek() turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns[min(s.requests, len(s.turns)-1)]
}

func (s *scriptedProvider) take() turn {
	turn := s.peek()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return turn
}

func (s *scriptedProvider) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *scriptedProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	turn := s.take()
	shared := &sharedWriter{ResponseWriter: w}
	if turn.noise != nil {
		defer s.disturb(r.Context(), shared, turn.noise)()
	}
	if turn.mute {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = shared.FlushError()
		<-r.Context().Done()
		return
	}
	time.Sleep(latency)
	s.lab.Script("m", turn.step)
	s.lab.ServeHTTP(shared, r)
}

// disturb sends noise during the response, until stop is called or the client has gone.
func (s *scriptedProvider) disturb(gone context.Context, w *sharedWriter, noise noise) (stop func()) {
	ctx, cancel := context.WithCancel(gone)
	var over sync.WaitGroup
	over.Go(func() {
		tick := time.NewTicker(noiseEvery)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_, _ = w.Write([]byte(noise(s.entry.wire, n)))
				_ = w.FlushError()
			}
		}
	})
	return func() {
		cancel()
		over.Wait()
	}
}

// sharedWriter is a ResponseWriter for two concurrent writers.
type sharedWriter struct {
	http.ResponseWriter
	mu sync.Mutex
}

func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ResponseWriter.Write(p)
}

func (w *sharedWriter) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *sharedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
