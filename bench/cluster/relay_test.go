package cluster

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// relay is one member's connection to the database.
type relay struct {
	listener net.Listener

	mu    sync.Mutex
	to    string // the database's socket
	conns map[net.Conn]bool
	open  chan struct{} // closed while it forwards
	back  chan struct{} // closed while it forwards the database's replies
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, to: to, conns: map[net.Conn]bool{}, open: make(chan struct{}), back: make(chan struct{})}
	close(r.open)
	close(r.back)
	go r.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		r.heal()
		r.reset()
	})
	return r
}

func (r *relay) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.forward(conn)
	}
}

func (r *relay) forward(from net.Conn) {
	r.wait()
	r.mu.Lock()
	socket := r.to
	r.mu.Unlock()
	to, err := new(net.Dialer).DialContext(context.Background(), "unix", socket)
	if err != nil {
		_ = from.Close()
		return
	}
	r.keep(from, to)
	var both sync.WaitGroup
	both.Go(func() { r.pump(to, from, r.wait) })
	both.Go(func() { r.pump(from, to, r.waitBack) })
	both.Wait()
}

// pump forwards in one direction, whenever that is open, until a connection breaks.
func (r *relay) pump(to, from net.Conn, wait func()) {
	defer r.drop(from, to)
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		wait()
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

func (r *relay) wait() {
	r.mu.Lock()
	open := r.open
	r.mu.Unlock()
	<-open
}

func (r *relay) waitBack() {
	r.wait()
	r.mu.Lock()
	back := r.back
	r.mu.Unlock()
	<-back
}

func (r *relay) keep(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		r.conns[c] = true
	}
}

func (r *relay) drop(conns ...io.Closer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		if c, ok := c.(net.Conn); ok {
			delete(r.conns, c)
		}
	}
}

// lead points the relay to another database.
func (r *relay) lead(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
}

// url is the address of the database through the relay.
func (r *relay) url() string {
	return "postgres://mulligan@" + r.listener.Addr().String() + "/postgres?sslmode=disable"
}

// cut stops forwarding in both directions without closing connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = make(chan struct{})
}

// deafen stops forwarding the database's replies, while requests still arrive.
func (r *relay) deafen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.back = make(chan struct{})
}

// heal forwards again, beginning with what was held back.
func (r *relay) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, way := range []chan struct{}{r.open, r.back} {
		select {
		case <-way:
		default:
			close(way)
		}
	}
}

// reset breaks the relay's connections.
func (r *relay) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
}
