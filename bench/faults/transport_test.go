package faults

import (
	"context"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

// silent are the transports that only a timer ends. It is short, since the network here is this
// machine. All others have as much time as they need.
var silent = map[string]bool{"dns-timeout": true, "blackhole": true, "tls-silent": true, "no-headers": true}

const patience = 500 * time.Millisecond

// playTransport calls a broken listener over a wire; false if this system does not have that
// listener.
func playTransport(t *testing.T, wire, name string) (verdict, bool) {
	t.Helper()
	if name == "blackhole" && runtime.GOOS != "linux" {
		t.Logf("NOT TESTED: %s needs Linux", name)
		return verdict{}, false
	}
	broken, err := faultlab.Break(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := broken.Close(); err != nil {
			t.Error(err)
		}
	}()
	a := access{base: broken.URL, proxy: broken.Proxy, dial: broken.Dial}
	if silent[name] {
		a.connect, a.firstEvent = patience, 3*patience
	}
	if host, plain := strings.CutPrefix(broken.URL, "http://"); plain && net.ParseIP(broken.Host) == nil {
		a.base = "https://" + host // plain http is accepted for this machine only
	}
	switch {
	case broken.CA != nil:
		client := broken.Client()
		defer client.CloseIdleConnections()
		a.trip = client.Transport
	case broken.Resolver != "":
		dialer := &net.Dialer{Timeout: patience, Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", broken.Resolver)
		}}}
		a.dial = dialer.DialContext
	}
	return runOnce(t, wire, wire, a), true
}
