package faultlab

import (
	"io"
	"net"
	"sync"
)

// holder accepts connections and keeps each until its handler has returned and the client has
// closed it, or the holder is closed.
type holder struct {
	ln     net.Listener
	handle func(net.Conn)
	active sync.WaitGroup

	mu    sync.Mutex
	shut  bool
	conns map[net.Conn]bool
}

// accept runs until the listener is closed.
func (h *holder) accept() {
	defer h.active.Done()
	for {
		conn, err := h.ln.Accept()
		if err != nil {
			return
		}
		if h.add(conn) {
			go h.serve(conn)
		}
	}
}

// add keeps a connection; false after close.
func (h *holder) add(conn net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shut {
		conn.Close()
		return false
	}
	h.conns[conn] = true
	h.active.Add(1)
	return true
}

func (h *holder) serve(conn net.Conn) {
	defer h.active.Done()
	h.handle(conn)
	// Closing while something is unread would be a reset, which may overtake what was sent.
	if tcp, ok := conn.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
	conn.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, conn)
}

// close breaks all connections and waits for their handlers.
func (h *holder) close() error {
	err := h.ln.Close()
	h.mu.Lock()
	h.shut = true
	for conn := range h.conns {
		conn.Close()
	}
	h.mu.Unlock()
	h.active.Wait()
	return err
}
