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

// network is what is asked of the system.
type network struct {
	lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	route  func(ctx context.Context, to netip.AddrPort) error // nil if there is one
	dial   func(ctx context.Context, to netip.AddrPort) error // connects over TCP, and hangs up
}

var system = network{
	lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
		// A Resolver of its own, or asking again would be to wait for the first question.
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

// elsewhere stands for the rest of the world: addresses that are for documentation only
// (RFC 5737, RFC 3849), to which nothing but a default route leads.
var elsewhere = []netip.AddrPort{
	netip.MustParseAddrPort("192.0.2.1:443"),
	netip.MustParseAddrPort("[2001:db8::1]:443"),
}

// anyRoute reports whether there is a route to any of these addresses. An error is
// anything that is not about routes, such as a lack of descriptors.
func (n network) anyRoute(ctx context.Context, to []netip.AddrPort) (bool, error) {
	for _, addr := range to {
		if err := n.route(ctx, addr); err == nil || !isNoRoute(err) && !isNoSource(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// find looks a name up. It asks again where half the time brought no answer: questions
// are lost on the way, and the system repeats them much later only.
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

// isSilence reports whether no name server has given an answer. A SERVFAIL counts: that
// is what a server says which gets none itself.
func isSilence(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && !dns.IsNotFound && dns.Temporary()
}

// isNoRoute reports whether the network said that an address leads nowhere.
func isNoRoute(err error) bool {
	return is(err, syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN)
}

// isNoSource reports whether this machine has no address to send from. Of a TCP
// connection it would also mean that all ports are taken.
func isNoSource(err error) bool { return is(err, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT) }

func is(err error, numbers ...syscall.Errno) bool {
	return slices.ContainsFunc(numbers, func(n syscall.Errno) bool { return errors.Is(err, n) })
}

// dialled is what came of connecting to addr.
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
