package cluster

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// relay is the link of one member to the database.
type relay struct {
	listener net.Listener

	mu    sync.Mutex
	to    string // the database's socket
	conns map[net.Conn]bool
	open  chan struct{} // closed while it forwards
	back  chan struct{} // closed while it forwards what the database says
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

// pump forwards one way, when it may, until that breaks.
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

// lead has it lead to another database.
func (r *relay) lead(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
}

// url is the address of the database through it.
func (r *relay) url() string {
	return "postgres://mulligan@" + r.listener.Addr().String() + "/postgres?sslmode=disable"
}

// cut has it forward nothing more, and tell nobody.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = make(chan struct{})
}

// deafen has it forward nothing that the database says, though all that it is told.
func (r *relay) deafen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.back = make(chan struct{})
}

// heal has it forward again, what it has kept first.
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

// reset breaks its connections.
func (r *relay) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
}
