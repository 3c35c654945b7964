package observe

import (
	"fmt"
	"net/netip"
	"testing"
)

func TestHost(t *testing.T) {
	for _, c := range []struct {
		base, proxy string
		want        string // name:port, and whether it is on this machine
	}{
		{"https://api.anthropic.com", "", "api.anthropic.com:443 false"},
		{"https://gateway.example:8443/v1", "", "gateway.example:8443 false"},
		{"http://10.1.2.3/v1", "", "10.1.2.3:80 false"},
		{"http://localhost:11434/v1", "", "localhost:11434 true"},
		{"http://[::1]:8000/v1", "", "::1:8000 true"},
		{"https://api.anthropic.com", "http://proxy.example:3128", "proxy.example:3128 false"},
		{"https://api.anthropic.com", "http://proxy.example", "proxy.example:80 false"},
		{"https://api.anthropic.com", "socks5://proxy.example", "proxy.example:1080 false"},
		{"https://api.anthropic.com", "http://127.0.0.1:3128", "127.0.0.1:3128 true"},
		{"http://localhost:11434/v1", "http://proxy.example", "proxy.example:80 true"},
	} {
		client, err := New(Config{BaseURL: c.base, Proxy: c.proxy, AllowPrivate: true})
		if err != nil {
			t.Fatal(err)
		}
		h := client.Host()
		if got := fmt.Sprintf("%s:%d %v", h.Name, h.Port, h.Local); got != c.want {
			t.Errorf("%s, proxy %q: %s, want %s", c.base, c.proxy, got, c.want)
		}
	}
}

// TestHostIsGuarded: nobody connects to an address of a provider that its requests may
// not lead to, whatever for.
func TestHostIsGuarded(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		addr string
		want bool
	}{
		{Config{BaseURL: "https://api.anthropic.com"}, "160.79.104.10", true},
		{Config{BaseURL: "https://api.anthropic.com"}, "192.168.1.1", false},
		{Config{BaseURL: "https://api.anthropic.com", AllowPrivate: true}, "192.168.1.1", true},
		{Config{BaseURL: "https://api.anthropic.com", AllowPrivate: true}, "169.254.169.254", false},
	} {
		client, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.Host().Allowed(netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("%+v: %s: %v", c.cfg, c.addr, got)
		}
	}
}
