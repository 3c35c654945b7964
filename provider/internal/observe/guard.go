package observe

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// RefusedAddressError says that a dial led where this provider may not lead.
type RefusedAddressError struct {
	Address string
	Why     string
}

func (e *RefusedAddressError) Error() string {
	return fmt.Sprintf("connecting to %s refused: %s", e.Address, e.Why)
}

// guard decides where connections may lead. It is asked at each dial, with the
// address that was resolved, so a name that resolves anew cannot get around it.
type guard struct {
	plain        bool // http, not https
	loopback     bool // the base URL names this machine
	allowPrivate bool
}

// shared are ranges that are not global and that netip does not know as private.
var shared = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("fec0::/10"),
}

// embedding are IPv6 ranges whose addresses lead to an IPv4 address within them.
var embedding = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
	{netip.MustParsePrefix("::/96"), 12},
}

// metadata are where clouds hand out credentials; no model is served there.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"),
	netip.MustParseAddr("169.254.170.2"),
	netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("fd00:ec2::254"),
}

// control is a net.Dialer's Control.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedAddressError{address, "it is not an IP address"}
	}
	if why := g.refuse(to.Addr()); why != "" {
		return &RefusedAddressError{address, why}
	}
	return nil
}

// refuse says why addr may not be connected to, or nothing.
func (g guard) refuse(addr netip.Addr) string {
	addr = inner(addr.Unmap().WithZone(""))
	for _, m := range metadata {
		if addr == m {
			return "it is a cloud's metadata service"
		}
	}
	switch private := isPrivate(addr); {
	case addr.IsLoopback():
		if !g.loopback && !g.allowPrivate {
			return "a remote name led to this machine"
		}
	case addr.IsMulticast(), addr.IsUnspecified():
		return "it is no host's address"
	case private && !g.allowPrivate:
		return "it is a private address, and this provider does not allow those"
	case g.plain && !private:
		return "http, without TLS, is for this machine only"
	}
	return ""
}

func inner(addr netip.Addr) netip.Addr {
	for _, e := range embedding {
		if addr.Is6() && e.prefix.Contains(addr) && addr != netip.IPv6Loopback() && !addr.IsUnspecified() {
			bytes := addr.As16()
			return netip.AddrFrom4([4]byte(bytes[e.at : e.at+4]))
		}
	}
	return addr
}

func isPrivate(addr netip.Addr) bool {
	for _, p := range shared {
		if p.Contains(addr) {
			return true
		}
	}
	return addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsInterfaceLocalMulticast()
}

// parseBase checks a base URL; the rest is checked at dial.
func parseBase(base string, allowPrivate bool) (*url.URL, guard, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(base), "/"))
	if err != nil {
		return nil, guard{}, fmt.Errorf("base URL: not a URL") // the parser's words would repeat a password
	}
	g := guard{plain: u.Scheme == "http", loopback: IsLoopback(u.Hostname()), allowPrivate: allowPrivate}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, g, fmt.Errorf("base URL: must begin with https:// (or http:// for this machine)")
	case u.Hostname() == "":
		return nil, g, fmt.Errorf("base URL: names no host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, g, fmt.Errorf("base URL: must hold no user, query or fragment")
	case g.plain && !g.loopback && !allowPrivate:
		return nil, g, fmt.Errorf("base URL: http is for this machine only; use https for %s", u.Hostname())
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if why := g.refuse(addr); why != "" {
			return nil, g, fmt.Errorf("base URL: %w", &RefusedAddressError{u.Hostname(), why})
		}
	}
	return u, g, nil
}

// IsLoopback reports whether a host name or IP address is this machine.
func IsLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
