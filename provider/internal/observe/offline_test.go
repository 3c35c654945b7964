package observe

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
)

// TestOfflineDials: whatever the system says when there is no connection, people read
// the same words.
func TestOfflineDials(t *testing.T) {
	const words = "Could not reach Anthropic. Check your Internet connection or Anthropic status."
	kernel := func(network string, number syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", number)}
	}
	lookup := func(err net.DNSError) error {
		err.Name = "api.anthropic.com"
		return &net.OpError{Op: "dial", Net: "tcp", Err: &err}
	}
	for name, err := range map[string]error{
		"no such host":                 lookup(net.DNSError{Err: "no such host", IsNotFound: true}),
		"name server is silent":        lookup(net.DNSError{Err: "i/o timeout", Server: "192.0.2.53:53", IsTimeout: true, IsTemporary: true}),
		"lookup took too long":         lookup(net.DNSError{Err: "i/o timeout", IsTimeout: true, UnwrapErr: context.DeadlineExceeded}),
		"name server fails":            lookup(net.DNSError{Err: "server misbehaving", IsTemporary: true}),
		"name server refuses":          lookup(net.DNSError{Err: "server misbehaving"}),
		"no route to a name server":    lookup(net.DNSError{Err: kernel("udp", syscall.ENETUNREACH).Error(), IsTemporary: true}),
		"nobody is the name server":    lookup(net.DNSError{Err: kernel("udp", syscall.ECONNREFUSED).Error(), IsTemporary: true}),
		"EAI_AGAIN":                    lookup(net.DNSError{Err: "Temporary failure in name resolution", IsTemporary: true}),
		"no address to any name":       &net.OpError{Op: "dial", Net: "tcp", Err: &net.AddrError{Err: "no suitable address found", Addr: "api.anthropic.com"}},
		"network is unreachable":       kernel("tcp", syscall.ENETUNREACH),
		"no route to host":             kernel("tcp", syscall.EHOSTUNREACH),
		"network is down":              kernel("tcp", syscall.ENETDOWN),
		"host is down":                 kernel("tcp", syscall.EHOSTDOWN),
		"cannot assign address":        kernel("tcp", syscall.EADDRNOTAVAIL),
		"address family not supported": kernel("tcp", syscall.EAFNOSUPPORT),
		"connection refused":           kernel("tcp", syscall.ECONNREFUSED),
		"connection reset":             kernel("tcp", syscall.ECONNRESET),
		"network dropped connection":   kernel("tcp", syscall.ENETRESET),
		"the listener hung up":         io.EOF,
	} {
		c, wrong := New(Config{
			Provider: "anthropic", BaseURL: "https://api.anthropic.com",
			DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, err },
		})
		if wrong != nil {
			t.Fatal(wrong)
		}
		_, failed := talkTo(t, c)
		f, ok := failure.AsFailure(failed)
		if !ok {
			t.Errorf("%s: %v is no failure", name, failed)
			continue
		}
		if f.Kind != failure.KindUnreachable || f.Phase != failure.PhaseBeforeConnect || !f.Retryable || f.Line() != words {
			t.Errorf("%s: %s, %s, %q", name, f.Kind, f.Phase, f.Line())
		}
	}
}
