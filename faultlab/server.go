package faultlab

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a lab on a listener.
type Server struct {
	url   string
	http  *http.Server
	conns sync.WaitGroup
	done  chan struct{} // closed when no more connections can come
}

// Listen serves the lab on a loopback TCP address such as "127.0.0.1:0" or "localhost:8080". Any
// other address is an error.
func (l *Lab) Listen(addr string) (*Server, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("faultlab: %w", err)
	}
	if !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("faultlab: %s is not a loopback address", addr)
	}
	ln, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("faultlab: %w", err)
	}
	return l.Serve(ln), nil
}

// Serve serves the lab on a listener, which the Server closes.
func (l *Lab) Serve(ln net.Listener) *Server {
	s := &Server{url: "http://" + ln.Addr().String(), done: make(chan struct{})}
	s.http = &http.Server{
		Handler:           l,
		ConnState:         s.count,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln)
	}()
	return s
}

// count keeps track of the connections that are being served.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	}
}

// URL is the server's base address, without a slash at its end.
func (s *Server) URL() string { return s.url }

// Close stops listening, breaks all connections, which ends their answers, and waits for that. The
// lab can still be used on other servers.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	s.conns.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
