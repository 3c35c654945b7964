package faultlab

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// nowhere is a host name that no resolver knows (RFC 6761).
const nowhere = "provider.invalid"

// breakRefused takes the port of an outgoing connection: no other process gets it, and none listens
// there.
func breakRefused(b *Broken) error {
	if err := b.serve("http", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }); err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).Dial("tcp", b.URL[len("http://"):])
	if err != nil {
		return err
	}
	b.closers = append(b.closers, conn.Close)
	b.URL = "http://" + conn.LocalAddr().String()
	return nil
}

// breakBlackhole fills the queue of a listener that accepts nothing: whatever tries to connect
// after that gets no answer.
func breakBlackhole(b *Broken) error {
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	b.closers = append(b.closers, ln.Close)
	b.URL = "http://" + ln.Addr().String()
	if err := shortestQueue(ln); err != nil {
		return err
	}
	const full = 200 * time.Millisecond // for a connection over loopback to succeed
	for {
		conn, err := (&net.Dialer{Timeout: full}).Dial("tcp", ln.Addr().String())
		if err != nil {
			return nil //nolint:nilerr // this is what was wanted
		}
		b.closers = append(b.closers, conn.Close)
	}
}

func breakUnreachable(b *Broken) error {
	b.URL = "http://" + nowhere
	b.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: namedAddr{network, address}, Err: os.NewSyscallError("connect", syscall.ENETUNREACH)}
	}
	return nil
}

// namedAddr is an address that was never resolved.
type namedAddr struct{ network, address string }

func (a namedAddr) Network() string { return a.network }
func (a namedAddr) String() string  { return a.address }

// breakSilent reads all that it is sent and says nothing.
func breakSilent(scheme string) func(*Broken) error {
	return func(b *Broken) error {
		return b.serve(scheme, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	}
}

// breakAfterRequest reads a request and then calls then with the connection.
func breakAfterRequest(then func(net.Conn)) func(*Broken) error {
	return func(b *Broken) error {
		return b.serve("http", func(c net.Conn) {
			request, err := readRequest(c)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, request.Body)
			then(c)
		})
	}
}

// readRequest reads a request's head.
func readRequest(c net.Conn) (*http.Request, error) {
	return http.ReadRequest(bufio.NewReader(io.LimitReader(c, maxBody)))
}

// sayNothing leaves the connection open, without an answer.
func sayNothing(net.Conn) {}

// greetSSH greets only after the request, so that the greeting comes at the same time for every
// client.
func greetSSH(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }

func breakPlainHTTP(b *Broken) error {
	return b.serve("https", func(c net.Conn) {
		// What comes is the beginning of a TLS handshake.
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTPS request to an HTTP server.\n")
	})
}

func breakProxy(b *Broken) error {
	err := b.serve("http", func(c net.Conn) {
		if _, err := readRequest(c); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\n"+
				"Proxy-Authenticate: Basic realm=\"corp\"\r\nContent-Length: 0\r\n\r\n")
		}
	})
	b.Proxy, b.URL = b.URL, "https://"+nowhere
	return err
}
