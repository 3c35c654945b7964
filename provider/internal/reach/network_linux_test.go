package reach

import (
	"context"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// TestLateDial: what the system says of a connection that nobody takes. A listener
// whose queue is full does not answer.
func TestLateDial(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	self, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(self.(*syscall.SockaddrInet4).Port))
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err = system.dial(ctx, to)
		cancel()
		if err != nil {
			break
		}
	}
	if got := dialled(to.Addr(), err); got != late {
		t.Errorf("%v is %d", err, got)
	}
}
