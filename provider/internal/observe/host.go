package observe

import (
	"net/netip"
	"net/url"
	"strconv"

	"github.com/mulligan-run/mulligan/internal/netguard"

	"github.com/mulligan-run/mulligan/provider/internal/reach"
)

// hostOf is where requests to base connect to: its host, or the proxy.
func hostOf(base *url.URL, through *way, allowed netguard.Guard) reach.Host {
	at, local := base, allowed.Loopback
	if through != nil {
		at, allowed = through.proxy, through.guard(allowed)
		local = local || IsLoopback(at.Hostname())
	}
	return reach.Host{
		Name: at.Hostname(), Port: port(at), Local: local,
		Allowed: func(addr netip.Addr) bool { return allowed.Refuse(addr) == "" },
	}
}

// usualPorts are the default ports of the schemes that net/http can use.
var usualPorts = map[string]uint16{"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}

func port(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	return usualPorts[u.Scheme]
}
