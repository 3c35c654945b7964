package reach

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	limit       = 3 * time.Second // for everything, even if the system exceeds the following limits
	lookupLimit = 1400 * time.Millisecond
	dialLimit   = 1400 * time.Millisecond

	maxHosts     = 8
	maxAddresses = 3 // per host and family: IPv6 alone may be broken
)

// Host is a host to be reached.
type Host struct {
	Name    string // a DNS name or an IP address
	Port    uint16
	Local   bool                       // it is on this machine, and needs no network
	Allowed func(addr netip.Addr) bool // whether connecting to addr is allowed; nil = always
}

// Offline reports whether none of the hosts can be reached because this machine has no connection.
// It takes at most 3 s, tries the first eight hosts, and each name once. It is false if it cannot
// tell, as when ctx ends.
func Offline(ctx context.Context, hosts []Host) bool { return system.offline(ctx, hosts) }

// outcome is what trying one host shows; of several addresses the largest outcome counts.
type outcome uint8

const (
	unknown outcome = iota // it says nothing about this machine's connection
	lost                   // nobody forwards or answers anything
	late                   // no answer in time, which may be the host's fault
	reached                // somebody answered, or the connection is not the problem
)

func (n network) offline(ctx context.Context, hosts []Host) bool {
	if slices.ContainsFunc(hosts, func(h Host) bool { return h.Local }) {
		return false
	}
	hosts = distinct(hosts)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	connected, err := n.anyRoute(ctx, elsewhere)
	if err != nil {
		return false
	}
	outcomes := make(chan outcome, len(hosts))
	for _, h := range hosts {
		go func() { outcomes <- n.look(ctx, h, connected) }()
	}
	var count [reached + 1]int
	for range hosts {
		select {
		case o := <-outcomes:
			count[o]++
		case <-ctx.Done():
			return false
		}
		if count[reached] > 0 {
			return false
		}
	}
	if ended(ctx) {
		return false // the attempts were cut short, so lateness means nothing
	}
	return count[lost] > 0 && count[late] == 0 || count[lost]+count[late] > 1
}

// distinct lists each name once, and only a limited number of them.
func distinct(hosts []Host) []Host {
	var list []Host
	for _, h := range hosts {
		h.Name = strings.ToLower(strings.TrimSuffix(h.Name, "."))
		if !slices.ContainsFunc(list, func(other Host) bool { return other.Name == h.Name }) {
			list = append(list, h)
		}
	}
	return list[:min(len(list), maxHosts)]
}

// ended also notices a deadline that sockets report a moment before ctx does.
func ended(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// look tries to reach one host. connected says whether there are routes at all.
func (n network) look(ctx context.Context, h Host, connected bool) outcome {
	addrs, err := n.find(ctx, h.Name)
	usable := h.usable(addrs)
	switch {
	case slices.ContainsFunc(usable, netip.Addr.IsLoopback):
		return reached
	case len(usable) > 0:
		return n.try(ctx, h.Port, usable, connected)
	case !connected || isSilence(err):
		return lost
	case err != nil:
		return reached
	}
	return unknown
}

// usable are the addresses that may be connected to, up to a limit.
func (h Host) usable(addrs []netip.Addr) []netip.Addr {
	var list []netip.Addr
	var v4, v6 int
	for _, addr := range addrs {
		addr = addr.Unmap()
		if h.Allowed != nil && !h.Allowed(addr) {
			continue
		}
		count := &v6
		if addr.Is4() {
			count = &v4
		}
		if *count++; *count <= maxAddresses {
			list = append(list, addr)
		}
	}
	return list
}

// try connects to those of the addresses that there is a route to.
func (n network) try(ctx context.Context, port uint16, addrs []netip.Addr, connected bool) outcome {
	var routed []netip.AddrPort
	for _, addr := range addrs {
		to := netip.AddrPortFrom(addr, port)
		switch ok, err := n.anyRoute(ctx, []netip.AddrPort{to}); {
		case err != nil:
			return reached
		case ok:
			routed = append(routed, to)
		}
	}
	switch {
	case len(routed) > 0:
		return n.connect(ctx, routed)
	case connected:
		return unknown // for example a host with IPv6 only, on a machine with IPv4 only
	}
	return lost
}

// connect connects to all at once, and waits for the first answer.
func (n network) connect(ctx context.Context, to []netip.AddrPort) outcome {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	outcomes := make(chan outcome, len(to))
	for _, addr := range to {
		go func() { outcomes <- dialled(addr.Addr(), n.dial(ctx, addr)) }()
	}
	result := unknown
	for range to {
		if result = max(result, <-outcomes); result == reached {
			break
		}
	}
	return result
}
