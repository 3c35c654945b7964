package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
)

// TestS11FailuresAreCounted: ten failed logins a minute are allowed, on loopback as well. After
// that the right token is still let in, a code is not.
func TestS11FailuresAreCounted(t *testing.T) {
	g := guard(t, nil)
	wrong := func() int { return g.send("GET", "/v1/runs", "", "Authorization: Bearer wrong").code }
	guess := func() int { return g.send("POST", "/v1/login", `{"code":"wrong"}`).code }
	for _, try := range []func() int{wrong, guess} {
		for n := range 15 {
			want := http.StatusUnauthorized
			if n >= 10 {
				want = http.StatusTooManyRequests
			}
			if got := try(); got != want {
				t.Errorf("failure %d: %d", n+1, got)
			}
		}
	}
	if n := strings.Count(g.log.String(), "could not be let in"); n != 20 {
		t.Errorf("%d lines were logged", n)
	}
	if got := g.send("GET", "/v1/runs", "", g.bearer()); got.code != http.StatusOK {
		t.Errorf("the right token: %d", got.code)
	}
	g.logIn()
	got := g.send("POST", "/v1/login", `{"code":"wrong"}`)
	if after, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || got.code != http.StatusTooManyRequests || after < 1 || after > 60 {
		t.Errorf("the wrong code: %d, Retry-After %d", got.code, after)
	}
	g.clock.advance(time.Minute)
	if got := wrong(); got != http.StatusUnauthorized {
		t.Errorf("a minute later: %d", got)
	}
	g.logIn()
}

func TestS11ToShowNothingIsNoFailure(t *testing.T) {
	g := guard(t, nil)
	for range 30 {
		if got := g.send("GET", "/v1/runs", ""); got.code != http.StatusUnauthorized {
			t.Fatal(got.code)
		}
	}
}

// TestS11AddressesAreCountedApart: IPv4 by address, IPv6 by network. A gateway keeps a bounded
// number of counters, and all further addresses share one.
func TestS11AddressesAreCountedApart(t *testing.T) {
	h, err := gateway.NewGuard(gateway.GuardConfig{Token: func(gateway.Digest) (bool, error) { return false, nil }}, http.NotFoundHandler(), nil)
	if err != nil {
		t.Fatal(err)
	}
	from := func(remote string) int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/runs", nil)
		r.Host, r.RemoteAddr = "localhost", remote
		r.Header.Set("Authorization", "Bearer x")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for n := range 10 {
		from("192.0.2.1:1")
		from(fmt.Sprintf("[2001:db8::%x]:1", n+1))
	}
	for remote, want := range map[string]int{
		"192.0.2.1:2": 429, "[::ffff:192.0.2.1]:2": 429, "192.0.2.2:1": 401, "[2001:db8::ffff]:1": 429, "[2001:db8:0:1::1]:1": 401, "@": 401,
	} {
		if got := from(remote); got != want {
			t.Errorf("%s: %d, not %d", remote, got, want)
		}
	}
	last := 0
	for n := range 5000 {
		last = from(fmt.Sprintf("10.0.%d.%d:1", n/256, n%256))
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the address after too many: %d", last)
	}
}

func TestS12SizesAreBounded(t *testing.T) {
	g := guard(t, func(cfg *gateway.GuardConfig) { cfg.Limits.BodyBytes = 10_000 })
	if got := g.send("GET", "/v1/runs", "", g.bearer(), "X-Long: "+strings.Repeat("x", 33<<10)); got.code != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("33 KiB of headers: %d", got.code)
	}
	if got := g.send("GET", "/v1/runs?status="+strings.Repeat("x", 9<<10), "", g.bearer()); got.code != http.StatusRequestURITooLong {
		t.Errorf("an address of 9 KiB: %d", got.code)
	}
	for size, want := range map[int]int{9_000: 201, 11_000: 413} {
		if got := g.send("POST", "/v1/runs", `{"prompt":"`+strings.Repeat("x", size)+`"}`, g.bearer()); got.code != want {
			t.Errorf("a body of %d bytes: %d, not %d", size, got.code, want)
		}
	}
	if got := g.send("POST", "/v1/runs", `{"prompt":"`+strings.Repeat("x", 11_000)+`"}`); got.code != http.StatusUnauthorized {
		t.Errorf("a large body of a stranger: %d", got.code)
	}
}

// TestS12HowMuchGoesOn: streams and writes are counted while they last.
func TestS12HowMuchGoesOn(t *testing.T) {
	inside, leave := make(chan string), make(chan struct{})
	api := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		inside <- r.URL.Path
		<-leave
	})
	cfg := gateway.GuardConfig{Token: func(gateway.Digest) (bool, error) { return true, nil }, Limits: gateway.Limits{Streams: 2, Writes: 1, Patience: time.Millisecond}}
	h, err := gateway.NewGuard(cfg, api, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string) int {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer x")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for range 2 {
		const stream, write = "/v1/runs/r1/events", "/v1/runs"
		done := make(chan int)
		for _, request := range [][2]string{{"GET", stream}, {"GET", stream}, {"POST", write}} {
			go func() { done <- ask(request[0], request[1]) }()
			<-inside
		}
		for _, request := range [][2]string{{"GET", stream}, {"POST", write}} {
			refused := make(chan int, 1)
			go func() { refused <- ask(request[0], request[1]) }()
			select {
			case got := <-refused:
				if got != http.StatusTooManyRequests {
					t.Errorf("one more %s: %d", request, got)
				}
			case <-inside:
				t.Fatalf("one more %s was let in", request)
			}
		}
		for range 3 {
			leave <- struct{}{}
			<-done
		}
	}
}

// TestS12SlowClients: 500 that never end their headers, and 500 that never end a body, keep
// nobody else waiting, and are gone after 5 s and 30 s.
func TestS12SlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := gateway.NewGuard(gateway.GuardConfig{Token: func(d gateway.Digest) (bool, error) { return d == gateway.DigestOf("x"), nil }},
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }), nil)
		if err != nil {
			t.Fatal(err)
		}
		net := faultlab.NewMemListener()
		server := gateway.Server(h, discard())
		served := make(chan error, 1)
		go func() { served <- server.Serve(net) }()
		defer func() {
			_ = server.Close()
			<-served
		}()
		const n = 500
		headers, bodies := make(chan time.Duration, n), make(chan time.Duration, n)
		for range n {
			go func() { headers <- slow(t, net, "GET / HTTP/1.1\r\nHost: localhost\r\n", "X-More: x\r\n") }()
			go func() {
				bodies <- slow(t, net, "POST /v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n", " ")
			}()
		}
		time.Sleep(2 * time.Second)
		client := net.Client()
		start := time.Now()
		resp, err := client.Get("http://localhost/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if took := time.Since(start); resp.StatusCode != http.StatusOK || took > 0 {
			t.Errorf("somebody else: %d after %s", resp.StatusCode, took)
		}
		for range n {
			if lasted := <-headers; lasted > 6*time.Second {
				t.Fatalf("slow headers lasted %s", lasted)
			}
		}
		for range n {
			if lasted := <-bodies; lasted > 32*time.Second {
				t.Fatalf("a slow body lasted %s", lasted)
			}
		}
		client.CloseIdleConnections()
	})
}

// slow sends the beginning and then a piece each second, until the connection is closed.
func slow(t *testing.T, to *faultlab.MemListener, begin, piece string) time.Duration {
	conn, err := to.Dial(t.Context())
	if err != nil {
		t.Error(err)
		return 0
	}
	defer conn.Close()
	start := time.Now()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, conn)
	}()
	for text := begin; ; text = piece {
		if _, err := conn.Write([]byte(text)); err != nil {
			break
		}
		select {
		case <-gone:
			return time.Since(start)
		case <-time.After(time.Second):
		}
		if time.Since(start) > time.Minute {
			break
		}
	}
	return time.Since(start)
}
