package reach

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// world is a network whose answers are in tables. A name or an address that is in none
// keeps everybody waiting.
type world struct {
	names  map[string]string // name → addresses, or the word for an error
	routes map[string]error  // prefix → what connecting a UDP socket says; none fits = no route
	conns  map[string]error  // address → what connecting over TCP says
	dials  atomic.Int32
}

var dnsErrors = map[string]*net.DNSError{
	"no such host": {Err: "no such host", IsNotFound: true},
	"timeout":      {Err: "i/o timeout", IsTimeout: true, IsTemporary: true},
	"SERVFAIL":     {Err: "server misbehaving", IsTemporary: true},
	"REFUSED":      {Err: "server misbehaving"},
	"unreachable":  {Err: "dial udp: connect: network is unreachable", IsTemporary: true},
}

func (w *world) network() network {
	return network{lookup: w.lookup, route: w.route, dial: w.dial}
}

func (w *world) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{addr}, nil
	}
	found, ok := w.names[name]
	if !ok {
		<-ctx.Done()
		return nil, dnsErrors["timeout"]
	}
	if err := dnsErrors[found]; err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for field := range strings.FieldsSeq(found) {
		addrs = append(addrs, netip.MustParseAddr(field))
	}
	return addrs, nil
}

func (w *world) route(_ context.Context, to netip.AddrPort) error {
	for prefix, err := range w.routes {
		if netip.MustParsePrefix(prefix).Contains(to.Addr()) {
			return err
		}
	}
	return kernel("udp", syscall.ENETUNREACH)
}

func (w *world) dial(ctx context.Context, to netip.AddrPort) error {
	w.dials.Add(1)
	err, ok := w.conns[to.Addr().String()]
	if !ok {
		<-ctx.Done()
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	return err
}

// kernel is an error as the net package wraps it.
func kernel(network string, number syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", number)}
}

var (
	v4   = map[string]error{"0.0.0.0/0": nil}
	both = map[string]error{"0.0.0.0/0": nil, "::/0": nil}
	lan  = map[string]error{"10.0.0.0/8": nil}
)

func TestOffline(t *testing.T) {
	a, b := map[string]string{"a": "1.1.1.1"}, map[string]string{"a": "1.1.1.1", "b": "2.2.2.2"}
	say := func(numbers ...syscall.Errno) map[string]error {
		conns := map[string]error{}
		for i, number := range numbers {
			conns[fmt.Sprintf("%[1]d.%[1]d.%[1]d.%[1]d", i+1)] = kernel("tcp", number)
		}
		return conns
	}
	for name, c := range map[string]struct {
		names  map[string]string
		routes map[string]error
		conns  map[string]error
		hosts  string
		want   bool
	}{
		"nobody is asked for": {routes: v4, hosts: ""},
		"nobody, no route":    {hosts: ""},

		"no route, names are known":         {names: b, hosts: "a b", want: true},
		"no route, no name server":          {names: map[string]string{"a": "unreachable"}, hosts: "a", want: true},
		"no route, the system knows nobody": {names: map[string]string{"a": "no such host"}, hosts: "a", want: true},
		"no route, lookups hang":            {hosts: "a b", want: true},
		"no route to the Internet, one host on the LAN answers": {
			routes: lan, conns: map[string]error{"10.0.0.5": nil}, hosts: "10.0.0.5 1.1.1.1",
		},
		"no route to the Internet, the host on the LAN is off": {routes: lan, hosts: "10.0.0.5"},
		"host down":        {routes: map[string]error{"0.0.0.0/0": kernel("udp", syscall.EHOSTUNREACH)}, names: a, hosts: "a", want: true},
		"interface down":   {routes: map[string]error{"0.0.0.0/0": kernel("udp", syscall.ENETDOWN)}, names: a, hosts: "a", want: true},
		"no address":       {routes: map[string]error{"0.0.0.0/0": kernel("udp", syscall.EADDRNOTAVAIL)}, names: a, hosts: "a", want: true},
		"no IPv6 at all":   {routes: map[string]error{"::/0": kernel("udp", syscall.EAFNOSUPPORT)}, names: a, hosts: "a", want: true},
		"descriptors gone": {routes: map[string]error{"0.0.0.0/0": kernel("udp", syscall.EMFILE)}, names: map[string]string{"a": "unreachable"}, hosts: "a"},
		"not permitted":    {routes: map[string]error{"0.0.0.0/0": kernel("udp", syscall.EPERM)}, names: a, hosts: "a"},

		"IPv4 only, a host of IPv6 only":           {names: map[string]string{"a": "2600::1"}, routes: v4, hosts: "a"},
		"IPv4 only, that host and a silent lookup": {names: map[string]string{"a": "2600::1", "b": "timeout"}, routes: v4, hosts: "a b", want: true},

		"no answer to a lookup":                {routes: v4, hosts: "a", want: true},
		"no answer to two lookups":             {routes: both, hosts: "a b", want: true},
		"name server has none itself":          {names: map[string]string{"a": "SERVFAIL"}, routes: v4, hosts: "a", want: true},
		"name server cannot be reached":        {names: map[string]string{"a": "unreachable"}, routes: v4, hosts: "a", want: true},
		"name server refuses":                  {names: map[string]string{"a": "REFUSED"}, routes: v4, hosts: "a"},
		"no such host":                         {names: map[string]string{"a": "no such host"}, routes: v4, hosts: "a"},
		"no such host, and a silent lookup":    {names: map[string]string{"a": "no such host"}, routes: v4, hosts: "a b"},
		"one lookup is silent, one host is up": {names: a, routes: v4, conns: map[string]error{"1.1.1.1": nil}, hosts: "a b"},

		"up":                           {names: a, routes: v4, conns: map[string]error{"1.1.1.1": nil}, hosts: "a"},
		"refused":                      {names: a, routes: v4, conns: say(syscall.ECONNREFUSED), hosts: "a"},
		"reset":                        {names: a, routes: v4, conns: say(syscall.ECONNRESET), hosts: "a"},
		"ports are taken":              {names: a, routes: v4, conns: say(syscall.EADDRNOTAVAIL), hosts: "a"},
		"a fire wall of this machine":  {names: a, routes: v4, conns: say(syscall.EPERM), hosts: "a"},
		"network unreachable":          {names: a, routes: v4, conns: say(syscall.ENETUNREACH), hosts: "a", want: true},
		"host unreachable":             {names: b, routes: v4, conns: say(syscall.EHOSTUNREACH, syscall.ENETDOWN), hosts: "a b", want: true},
		"one unreachable, one refuses": {names: b, routes: v4, conns: say(syscall.EHOSTUNREACH, syscall.ECONNREFUSED), hosts: "a b"},
		"one unreachable, one is late": {names: b, routes: v4, conns: say(syscall.EHOSTUNREACH), hosts: "a b", want: true},

		"one is late":                       {names: a, routes: v4, hosts: "a"},
		"one is late, under two names":      {names: a, routes: v4, hosts: "a A."},
		"two are late":                      {names: b, routes: v4, hosts: "a b", want: true},
		"two are late for the kernel":       {names: b, routes: v4, conns: say(syscall.ETIMEDOUT, syscall.ETIMEDOUT), hosts: "a b", want: true},
		"two are late, one is up":           {names: b, routes: v4, conns: map[string]error{"3.3.3.3": nil}, hosts: "a b 3.3.3.3"},
		"one is late, one lookup is silent": {names: a, routes: v4, hosts: "a b", want: true},
		"two on the LAN are late":           {routes: v4, hosts: "10.0.0.5 10.0.0.6"},
		"one on the LAN has no route":       {routes: v4, conns: map[string]error{"10.0.0.5": kernel("tcp", syscall.EHOSTUNREACH)}, hosts: "10.0.0.5"},
		"IPv6 is broken, IPv4 is not": {
			names:  map[string]string{"a": "2600::1 2600::2 2600::3 2600::4 1.1.1.1", "b": "2600::5 1.1.1.1"},
			routes: both, conns: map[string]error{"1.1.1.1": nil}, hosts: "a b",
		},

		"this machine":                   {hosts: "127.0.0.1"},
		"a name of this machine":         {names: map[string]string{"a": "::1"}, hosts: "a b"},
		"a name leads where none should": {names: map[string]string{"a": "192.168.1.1"}, routes: v4, hosts: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{names: c.names, routes: c.routes, conns: c.conns}
				var hosts []Host
				for name := range strings.FieldsSeq(c.hosts) {
					hosts = append(hosts, Host{Name: name, Port: 443, Allowed: func(addr netip.Addr) bool {
						return addr != netip.MustParseAddr("192.168.1.1")
					}})
				}
				begun := time.Now()
				if got := w.network().offline(t.Context(), hosts); got != c.want {
					t.Errorf("offline: %v", got)
				}
				if took := time.Since(begun); took > limit {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestGuardedAddressesAreNotTouched(t *testing.T) {
	w := &world{names: map[string]string{"a": "10.0.0.5 169.254.169.254"}, routes: v4}
	w.network().offline(t.Context(), []Host{{Name: "a", Allowed: func(netip.Addr) bool { return false }}})
	if w.dials.Load() > 0 {
		t.Error("it connected to an address that is not allowed")
	}
}

func TestLocalHost(t *testing.T) {
	var hosts []Host
	for i := range 2 * maxHosts {
		hosts = append(hosts, Host{Name: fmt.Sprint(i), Local: i == 2*maxHosts-1})
	}
	if (&world{}).network().offline(t.Context(), hosts) {
		t.Error("offline, with a host on this machine")
	}
}

func TestTooManyHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{names: map[string]string{}, routes: both}
		var hosts []Host
		for i := range 20 {
			name := fmt.Sprint("host", i)
			w.names[name] = "1.1.1.1 1.1.1.2 1.1.1.3 1.1.1.4 2600::1 2600::2 2600::3 2600::4"
			hosts = append(hosts, Host{Name: name}, Host{Name: name})
		}
		if !w.network().offline(t.Context(), hosts) {
			t.Error("all are late, and it is online")
		}
		if n := w.dials.Load(); n != maxHosts*2*maxAddresses {
			t.Errorf("%d connections", n)
		}
	})
}

// TestLostQuestion: a name server answers the second time it is asked only.
func TestLostQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{routes: v4, conns: map[string]error{"1.1.1.1": nil}}
		n, asked := w.network(), atomic.Int32{}
		n.lookup = func(ctx context.Context, _ string) ([]netip.Addr, error) {
			if asked.Add(1) == 1 {
				<-ctx.Done()
				return nil, dnsErrors["timeout"]
			}
			time.Sleep(lookupLimit / 4)
			return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
		}
		if n.offline(t.Context(), []Host{{Name: "a"}}) || asked.Load() != 2 {
			t.Errorf("offline, after %d questions", asked.Load())
		}
	})
}

// TestEnds: whoever asks may stop waiting, and a system that does not keep to its time
// keeps nobody.
func TestEnds(t *testing.T) {
	deaf := make(chan struct{})
	for name, lookup := range map[string]func(context.Context, string) ([]netip.Addr, error){
		"a system that listens": (&world{}).lookup,
		"a deaf system":         func(context.Context, string) ([]netip.Addr, error) { <-deaf; return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deaf = make(chan struct{})
				n := (&world{routes: v4}).network()
				n.lookup = lookup
				for patience, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: limit, 0: 0} {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					begun := time.Now()
					if n.offline(ctx, []Host{{Name: "a"}, {Name: "b"}}) && patience < limit {
						t.Errorf("%s: offline, without having waited", patience)
					}
					if took := time.Since(begun); took > want {
						t.Errorf("%s: it took %s", patience, took)
					}
					cancel()
				}
				close(deaf)
			})
		})
	}
}

// TestSystem: what the system itself says of this machine's loopback.
func TestSystem(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := netip.MustParseAddrPort(listener.Addr().String())
	if err := system.route(t.Context(), to); err != nil {
		t.Error(err)
	}
	if err := system.dial(t.Context(), to); err != nil {
		t.Error(err)
	}
	listener.Close()
	if err := system.dial(t.Context(), to); !is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens, and it says %v", err)
	}
	addrs, err := system.lookup(t.Context(), "::1")
	if err != nil || !slices.Equal(addrs, []netip.Addr{netip.IPv6Loopback()}) {
		t.Error(addrs, err)
	}
}

func TestIsSilence(t *testing.T) {
	want := map[string]bool{"no such host": false, "timeout": true, "SERVFAIL": true, "REFUSED": false, "unreachable": true}
	for _, name := range slices.Sorted(maps.Keys(dnsErrors)) {
		if got := isSilence(fmt.Errorf("wrapped: %w", dnsErrors[name])); got != want[name] {
			t.Errorf("%s: %v", name, got)
		}
	}
	if isSilence(nil) || isSilence(context.Canceled) {
		t.Error("what is no DNS error is silence")
	}
}
