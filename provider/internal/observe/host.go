package observe

import (
	"net/netip"
	"net/url"
	"strconv"

	"github.com/mulligan-run/mulligan/provider/internal/reach"
)

// hostOf is whom requests to base connect to: its host, or that of the proxy, whose
// address is not guarded.
func hostOf(base *url.URL, proxy string, allowed guard) reach.Host {
	host := reach.Host{
		Name: base.Hostname(), Port: port(base), Local: allowed.loopback,
		Allowed: func(addr netip.Addr) bool { return allowed.refuse(addr) == "" },
	}
	if p, err := url.Parse(proxy); err == nil && p.Host != "" {
		host.Name, host.Port, host.Allowed = p.Hostname(), port(p), nil
		host.Local = host.Local || isLoopbackHost(p.Hostname())
	}
	return host
}

// usualPorts are those of the schemes that net/http speaks to a host or a proxy.
var usualPorts = map[string]uint16{"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}

func port(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	return usualPorts[u.Scheme]
}
