package loopback

import (
	"net"
	"testing"
)

// Free is an address, host:port, on which nothing listened a moment ago.
func Free(t testing.TB) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
