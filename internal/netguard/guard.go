package netguard

import (
	"fmt"
	"net/netip"
	"syscall"
)

// RefusedAddressError says that a dial led to a forbidden address.
type RefusedAddressError struct {
	Address string
	Why     string
}

// Error names the address, and says why.
func (e *RefusedAddressError) Error() string {
	return fmt.Sprintf("connecting to %s refused: %s", e.Address, e.Why)
}

// Guard decides where connections may go. It is asked at each dial, with the resolved address, so
// that a name that resolves differently later cannot get around it.
type Guard struct {
	Plain        bool // http, not https
	Loopback     bool // the configured URL names this machine
	AllowPrivate bool
}

// shared are ranges that are not global but that netip does not treat as private.
var shared = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("fec0::/10"),
}

// embedding are IPv6 ranges whose addresses contain an IPv4 address that they lead to.
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

// Control is a net.Dialer's Control.
func (g Guard) Control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedAddressError{address, "it is not an IP address"}
	}
	if why := g.Refuse(to.Addr()); why != "" {
		return &RefusedAddressError{address, why}
	}
	return nil
}

// Refuse says why addr must not be connected to, "" if it may.
func (g Guard) Refuse(addr netip.Addr) string {
	addr = inner(addr.Unmap().WithZone(""))
	for _, m := range metadata {
		if addr == m {
			return "it is a cloud's metadata service"
		}
	}
	switch private := isPrivate(addr); {
	case addr.IsLoopback():
		if !g.Loopback && !g.AllowPrivate {
			return "a remote name led to this machine"
		}
	case addr.IsMulticast(), addr.IsUnspecified():
		return "it is no host's address"
	case private && !g.AllowPrivate:
		return "it is a private address, which nobody has allowed"
	case g.Plain && !private:
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
