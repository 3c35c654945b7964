package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/timeline"
)

const (
	behindTimes = 3   // how often a follower falls behind
	behindWords = 600 // words that are said meanwhile: more than timeline.MaxBehind keeps, twice
)

// TestI09WhoFallsBehindComesBack has the Go client stop reading until it is too far behind, over
// connections that buffer nothing. The gateway tells it to reconnect. It receives each event once;
// what it shows is always a prefix of what the model said, and in the end all of it.
func TestI09WhoFallsBehindComesBack(t *testing.T) {
	t.Parallel()
	s := newSpeech(t)
	lines := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: gateway.New(gateway.Config{Log: s.log, Version: "test"}), ReadHeaderTimeout: time.Minute}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(lines) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	group.Go(func() { s.repeat(ctx) })
	defer group.Wait()
	defer cancel()
	defer server.Close()
	h := &heard{next: &http.Transport{DialContext: lines.dial}}
	c, err := client.New("http://gateway.test", client.WithHTTPClient(&http.Client{Transport: h}))
	if err != nil {
		t.Fatal(err)
	}
	var view client.View
	behind := 0
	for item, err := range c.Follow(ctx, "r1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e := item.Event; e != nil && e.Seq != view.State.Seq+1 {
			t.Fatalf("I29: event %d follows event %d", e.Seq, view.State.Seq)
		}
		if err := view.Apply(item); err != nil {
			t.Fatal(err)
		}
		said := s.sofar()
		if !strings.HasPrefix(said, view.Text()) {
			t.Fatalf("I09: it shows %q", view.Text())
		}
		if item.Delta == nil || view.Text() != said {
			continue
		}
		if behind++; behind <= behindTimes {
			s.say(t, behindWords)
		} else if behind == behindTimes+1 {
			s.end(t)
		}
	}
	if view.State.Status != recovery.StatusCompleted || view.Text() != s.sofar() {
		t.Errorf("I09: the run is %q, and of %d bytes %d are shown", view.State.Status, len(s.sofar()), len(view.Text()))
	}
	if told := strings.Count(h.text(), "event: resync\n"); told != behindTimes || h.asked != told+1 {
		t.Errorf("I29: it was told to come back %d times, and asked %d times", told, h.asked)
	}
}

// speech is a run whose model says words when the test asks for them.
type speech struct {
	log   *timeline.Journal
	lease timeline.Lease

	mu   sync.Mutex
	said string
	seq  uint64
}

func newSpeech(t *testing.T) *speech {
	t.Helper()
	s := &speech{log: timeline.NewMemory()}
	var err error
	if s.lease, err = s.log.Claim(t.Context(), "r1", "test", time.Hour); err != nil {
		t.Fatal(err)
	}
	s.write(t, recovery.Started{Model: "a/one", Input: []llm.Message{llm.User("hi")}, Policy: recovery.DefaultPolicy()})
	s.write(t, recovery.Began{Attempt: 1, Round: 1, Model: "a/one"})
	s.say(t, 1)
	return s
}

func (s *speech) write(t *testing.T, body recovery.Body) {
	t.Helper()
	e := recovery.Event{Run: "r1", Seq: s.seq + 1, Time: time.Now(), Body: body}
	if err := s.log.Append(t.Context(), s.lease, s.seq, e); err != nil {
		t.Fatal(err)
	}
	s.seq++
}

// say says so many words, and then causes an event.
func (s *speech) say(t *testing.T, words int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range words {
		word := fmt.Sprintf("word-%d-%d ", s.seq, i)
		s.log.Publish("r1", timeline.Delta{Attempt: 1, Offset: len(s.said), Text: word})
		s.said += word
	}
	s.write(t, recovery.Noted{Topic: recovery.TopicText, Attempt: 1})
}

// repeat sends a live piece that is known already, as may happen: it shows that the stream is
// alive.
func (s *speech) repeat(ctx context.Context) {
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			s.log.Publish("r1", timeline.Delta{Attempt: 1, Text: s.sofar()[:1]})
		}
	}
}

func (s *speech) sofar() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

func (s *speech) end(t *testing.T) {
	t.Helper()
	answer := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: s.sofar()}}}
	s.write(t, recovery.Answered{Attempt: 1, Message: answer, Stop: llm.StopEnd})
	s.write(t, recovery.Ended{Status: recovery.StatusCompleted})
}

// pipes is an in-process network without buffers: a write waits for a read.
type pipes struct {
	dialed chan net.Conn
	over   chan struct{}
}

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.dialed <- there:
		return here, nil
	case <-p.over:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.over)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// heard collects what streams say.
type heard struct {
	next  http.RoundTripper
	asked int

	mu   sync.Mutex
	said strings.Builder
}

func (h *heard) RoundTrip(r *http.Request) (*http.Response, error) {
	h.asked++
	resp, err := h.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(resp.Body, h), resp.Body}
	return resp, nil
}

func (h *heard) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.Write(text)
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.String()
}
