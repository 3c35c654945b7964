package gateway_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// TestS04HostsThatAreNotOurs: 30 values of Host, PORT being the one listened on.
func TestS04HostsThatAreNotOurs(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Hosts = []string{"box.example:8484", "Proxy.Example"} })
	good := []string{"127.0.0.1:PORT", "localhost:PORT", "LocalHost:PORT", "[::1]:PORT", "box.example:8484", "BOX.example:8484", "proxy.example"}
	bad := []string{
		"evil.com", "evil.com:PORT", "127.0.0.1.nip.io:PORT", "localhost.evil.com:PORT", "xlocalhost:PORT", "localhost", "127.0.0.1", "[::1]",
		"127.0.0.1:1", "localhost.:PORT", "127.0.0.1.:PORT", "127.1:PORT", "2130706433:PORT", "0x7f000001:PORT", "0.0.0.0:PORT", "[::]:PORT",
		"[::ffff:127.0.0.1]:PORT", "::1:PORT", "localhost:PORT:PORT", "box.example", "box.example:PORT", "proxy.example:PORT", "mybox.example:8484",
	}
	if n := len(good) + len(bad); n != 30 {
		t.Errorf("there are %d cases", n)
	}
	for i, host := range append(good, bad...) {
		want := http.StatusOK
		if i >= len(good) {
			want = http.StatusMisdirectedRequest
		}
		for _, path := range []string{"/healthz", "/v1/runs", "/"} {
			if got := rawHost(t, g, "GET "+path, expand(host, g)); got != want {
				t.Errorf("Host: %s of %s: %d, not %d", host, path, got, want)
			}
		}
	}
}

// rawHost sends a request as it is written, because a client would not.
func rawHost(t *testing.T, g *guarded, request, host string) int {
	t.Helper()
	return raw(t, g, fmt.Sprintf("%s HTTP/1.1\r\nHost: %s\r\n%s\r\nConnection: close\r\n\r\n", request, host, g.bearer()))
}

func raw(t *testing.T, g *guarded, request string) int {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", g.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestS04OddRequestLines: what only a proxy is asked, and hosts that are missing or twice.
func TestS04OddRequestLines(t *testing.T) {
	g := guard(t, nil)
	own := "127.0.0.1:" + g.port()
	for request, want := range map[string]int{
		"GET http://evil.com/v1/runs HTTP/1.1\r\nHost: " + own + "\r\n":                421,
		"GET http://" + own + "/v1/runs HTTP/1.1\r\nHost: " + own + "\r\n":             421,
		"GET http://" + own + "/v1/runs HTTP/1.1\r\nHost: evil.com\r\n":                421,
		"GET /v1/runs HTTP/1.1\r\nHost: " + own + "\r\nHost: evil.com\r\n":             400,
		"GET /v1/runs HTTP/1.1\r\n":                                                    400,
		"GET /v1/runs HTTP/1.1\r\nHost: \r\n":                                          421,
		"GET /v1/runs HTTP/1.0\r\n":                                                    421,
		"GET /v1/runs HTTP/1.1\r\nHost: evil.com\r\nX-Forwarded-Host: " + own + "\r\n": 421,
		"GET /v1/runs HTTP/1.1\r\nHost: evil.com\r\nForwarded: host=" + own + "\r\n":   421,
		"CONNECT " + own + " HTTP/1.1\r\nHost: " + own + "\r\n":                        405,
		"TRACE / HTTP/1.1\r\nHost: " + own + "\r\n":                                    405,
		"OPTIONS * HTTP/1.1\r\nHost: " + own + "\r\n":                                  200, // Go's own answer: there is nothing in it
	} {
		if got := raw(t, g, request+g.bearer()+"\r\nConnection: close\r\n\r\n"); got != want {
			t.Errorf("%q: %d, not %d", request, got, want)
		}
	}
}

func TestS04AHostThatNoClientSendsIsRefused(t *testing.T) {
	for _, host := range []string{"", "http://box:8484", "*", "*.example", "a b", "user@box", "box/path"} {
		cfg := gateway.GuardConfig{Token: func(gateway.Digest) (bool, error) { return true, nil }, Hosts: []string{host}}
		if _, err := gateway.NewGuard(cfg, http.NotFoundHandler(), nil); err == nil {
			t.Errorf("Hosts: %q was taken", host)
		}
	}
}
