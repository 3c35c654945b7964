package observe

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/mulligan-run/mulligan/internal/netguard"
)

// parseBase checks a base URL; addresses are checked at dial.
func parseBase(base string, allowPrivate bool) (*url.URL, netguard.Guard, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(base), "/"))
	if err != nil {
		return nil, netguard.Guard{}, fmt.Errorf("base URL: not a URL") // the parser's error would repeat a password
	}
	g := netguard.Guard{Plain: u.Scheme == "http", Loopback: IsLoopback(u.Hostname()), AllowPrivate: allowPrivate}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, g, fmt.Errorf("base URL: must begin with https:// (or http:// for this machine)")
	case u.Hostname() == "":
		return nil, g, fmt.Errorf("base URL: names no host")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, g, fmt.Errorf("base URL: must hold no user, query or fragment")
	case g.Plain && !g.Loopback && !allowPrivate:
		return nil, g, fmt.Errorf("base URL: http is for this machine only; use https for %s", u.Hostname())
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if why := g.Refuse(addr); why != "" {
			return nil, g, fmt.Errorf("base URL: %w", &netguard.RefusedAddressError{Address: u.Hostname(), Why: why})
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
