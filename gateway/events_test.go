package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
)

// pipe is an answer that is streamed; once it is shut nobody takes any more of it.
type pipe struct {
	header http.Header

	mu   sync.Mutex
	text bytes.Buffer
	shut bool
}

func (p *pipe) Header() http.Header              { return p.header }
func (p *pipe) WriteHeader(int)                  {}
func (p *pipe) Flush()                           {}
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }

func (p *pipe) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return 0, errors.New("shut")
	}
	return p.text.Write(data)
}

// take gives what was written since.
func (p *pipe) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.text.Reset()
	return p.text.String()
}

// TestSignsOfLife: a stream on which nothing happens says every 15 s that it is there, and
// ends once a client does not take that.
func TestSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWritten()
		run, err := w.Start(t.Context(), gateway.Start{Prompt: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		to, over := &pipe{header: http.Header{}}, make(chan struct{})
		go func() {
			defer close(over)
			g := gateway.New(gateway.Config{Runs: w, Log: w.log, Version: "test"})
			g.ServeHTTP(to, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/runs/"+run+"/events", nil))
		}()
		time.Sleep(14 * time.Second)
		if text := to.take(); !strings.HasPrefix(text, ": welcome\n\n") || strings.Count(text, "event: event\n") != 2 {
			t.Errorf("at first it says %q", text)
		}
		if err := w.write(run, recovery.Noted{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(14 * time.Second) // after an event, 15 s begin anew
		if text := to.take(); strings.Contains(text, ": still here") || strings.Count(text, "event: event\n") != 1 {
			t.Errorf("then it says %q", text)
		}
		time.Sleep(17 * time.Second)
		if text := to.take(); text != ": still here\n\n: still here\n\n" {
			t.Errorf("in the silence it says %q", text)
		}
		to.mu.Lock()
		to.shut = true
		to.mu.Unlock()
		time.Sleep(16 * time.Second)
		select {
		case <-over:
		default:
			t.Error("a client that is gone is still followed for")
		}
	})
}
