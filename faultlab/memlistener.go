package faultlab

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// MemListener is a net.Listener in memory: Dial returns one end of a net.Pipe, and Accept the
// other. For use in a testing/synctest bubble, create it in the bubble.
type MemListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewMemListener returns a listener that is open.
func NewMemListener() *MemListener {
	return &MemListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial connects. It waits for Accept until ctx ends or the listener is closed (net.ErrClosed).
func (m *MemListener) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	var err error
	select {
	case m.conns <- far:
		return near, nil
	case <-m.done:
		err = net.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	_ = near.Close()
	_ = far.Close()
	return nil, err
}

// Client returns an HTTP client that reaches this listener under every host name. Close its idle
// connections when done.
func (m *MemListener) Client() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return m.Dial(ctx) }
	return &http.Client{Transport: &http.Transport{DialContext: dial}}
}

// Accept waits for a Dial. After Close it returns net.ErrClosed.
func (m *MemListener) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial; connections stay open.
func (m *MemListener) Close() error {
	m.once.Do(func() { close(m.done) })
	return nil
}

// Addr is a name that resolves nowhere else.
func (m *MemListener) Addr() net.Addr { return memAddr{} }

type memAddr struct{}

func (memAddr) Network() string { return "mem" }
func (memAddr) String() string  { return "faultlab.invalid" }
