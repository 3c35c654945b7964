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

// entry is a provider as people configure it.
type entry struct {
	name, wire string
	local      bool // it is a local model server, and has more patient clocks
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

// adapt makes the entry's adapter, which reaches its provider by dial alone.
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

// turn is what becomes of one request.
type turn struct {
	dial  dialing
	mute  bool          // headers, and no event at all
	step  faultlab.Step // otherwise: what the lab says
	noise noise         // what comes all the while, every noiseEvery
}

type dialing int

const (
	connects dialing = iota
	hangs            // no connection, and no word about it
	refused
)

// noiseEvery is the pause before each piece of noise.
const noiseEvery = 10 * time.Second

// latency is how long a provider that speaks at all takes to begin.
const latency = time.Second

// noise gives the n-th piece of what a wire sends that is no progress.
type noise func(wire string, n int) string

// ping is the wire's sign of life.
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

// stage is a provider that plays turns, one for each request; the last one repeats.
type stage struct {
	entry   entry
	turns   []turn
	lab     *faultlab.Lab
	network *faultlab.MemListener
	server  *http.Server

	mu       sync.Mutex
	requests int
}

func open(e entry, turns ...turn) *stage {
	s := &stage{entry: e, turns: turns, lab: faultlab.New(), network: faultlab.NewMemListener()}
	s.server = &http.Server{Handler: s}
	go func() { _ = s.server.Serve(s.network) }()
	return s
}

// deafFor is how long those sleep that do not listen: longer than any clock.
const deafFor = 100 * 24 * time.Hour

func (s *stage) close() {
	_ = s.lab.Close()
	_ = s.server.Close()
	time.Sleep(2 * deafFor) // whatever still waits comes to its end
}

func (s *stage) model(t *testing.T) llm.Model {
	t.Helper()
	model, err := s.entry.adapt(s.dial)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// dial counts a request that comes no further.
func (s *stage) dial(ctx context.Context, _, _ string) (net.Conn, error) {
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

func (s *stage) peek() turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns[min(s.requests, len(s.turns)-1)]
}

func (s *stage) take() turn {
	turn := s.peek()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return turn
}

func (s *stage) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// disturb sends noise beside what is said, until stop is called or the client goes.
func (s *stage) disturb(gone context.Context, w *sharedWriter, noise noise) (stop func()) {
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

// sharedWriter is a ResponseWriter that two may write to.
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
