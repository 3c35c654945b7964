package reach

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"time"
)

// network is what is asked of the operating system.
type network struct {
	lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	route  func(ctx context.Context, to netip.AddrPort) error // nil if there is a route
	dial   func(ctx context.Context, to netip.AddrPort) error // connects over TCP, and closes the connection
}

var system = network{
	lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
		// A new Resolver each time: with a shared one, asking again would only wait for the first
		// question.
		return new(net.Resolver).LookupNetIP(ctx, "ip", name)
	},
	route: func(ctx context.Context, to netip.AddrPort) error {
		return hello(ctx, "udp", to) // connecting a UDP socket sends nothing
	},
	dial: func(ctx context.Context, to netip.AddrPort) error { return hello(ctx, "tcp", to) },
}

func hello(ctx context.Context, protocol string, to netip.AddrPort) error {
	conn, err := new(net.Dialer).DialContext(ctx, protocol, to.String())
	if err == nil {
		conn.Close()
	}
	return err
}

// elsewhere stands for the rest of the Internet: addresses reserved for documentation (RFC 5737,
// RFC 3849), to which only a default route leads.
var elsewhere = []netip.AddrPort{
	netip.MustParseAddrPort("192.0.2.1:443"),
	netip.MustParseAddrPort("[2001:db8::1]:443"),
}

// anyRoute reports whether there is a route to any of these addresses. An error is not about routes
// but, for example, about missing file descriptors.
func (n network) anyRoute(ctx context.Context, to []netip.AddrPort) (bool, error) {
	for _, addr := range to {
		if err := n.route(ctx, addr); err == nil || !isNoRoute(err) && !isNoSource(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// find looks a name up. If there is no answer after half the time, it asks again: questions get
// lost on the way, and the system repeats them only much later.
func (n network) find(ctx context.Context, name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	type answer struct {
		addrs []netip.Addr
		err   error
	}
	answers := make(chan answer, 2)
	ask := func() {
		addrs, err := n.lookup(ctx, name)
		answers <- answer{addrs, err}
	}
	go ask()
	select {
	case a := <-answers:
		return a.addrs, a.err
	case <-time.After(lookupLimit / 2):
		go ask()
	}
	a := <-answers
	if isSilence(a.err) {
		a = <-answers
	}
	return a.addrs, a.err
}

// isSilence reports whether no name server answered. A SERVFAIL counts, since a server says so
// when it gets no answer itself.
func isSilence(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && !dns.IsNotFound && dns.Temporary()
}

// isNoRoute reports whether the network said that an address is unreachable.
func isNoRoute(err error) bool {
	return is(err, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN)
}

// isNoSource reports whether this machine has no address to send from. For a TCP connection it
// might also mean that all ports are taken.
func isNoSource(err error) bool { return is(err, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT) }

func is(err error, numbers ...syscall.Errno) bool {
	return slices.ContainsFunc(numbers, func(n syscall.Errno) bool { return errors.Is(err, n) })
}

// dialled is the outcome of connecting to addr.
func dialled(addr netip.Addr, err error) outcome {
	result := reached
	switch {
	case isNoRoute(err):
		result = lost
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), is(err, syscall.ETIMEDOUT):
		result = late
	}
	if result != reached && (addr.IsPrivate() || addr.IsLinkLocalUnicast()) {
		return unknown
	}
	return result
}
