package observe

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
)

// refusing are servers whose HTTP/2 tells a client that it may ask again.
var refusing = []string{"h2-refused", "h2-goaway", "h2-goaway-unread", "h2-reset"}

// TestOneAttemptIsOneRequest: net/http repeats by itself what a server says it has not read,
// if it can; a server that always says so would get the prompt and the key for ever.
func TestOneAttemptIsOneRequest(t *testing.T) {
	for _, name := range refusing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := breakTransport(t, name)
			c, err := New(Config{Provider: "p", BaseURL: broken.URL})
			if err != nil {
				t.Fatal(err)
			}
			base := trusting(t, c.http.Transport, broken)
			defer base.CloseIdleConnections()
			for range 2 { // the second time with what is left of the first one's connection
				f := ask(t, c)
				if f.Kind != failure.KindUnreachable || !f.Retryable || strings.Contains(f.Detail, "GetBody") {
					t.Errorf("%+v", f)
				}
			}
			if n := broken.Requests(); n != 2 {
				t.Errorf("two attempts were %d requests", n)
			}
		})
	}
}

// TestOneWatchedAttemptIsOneRequest: the same of a client library that is watched.
func TestOneWatchedAttemptIsOneRequest(t *testing.T) {
	for _, name := range refusing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := breakTransport(t, name)
			base := trusting(t, DefaultBase(), broken)
			defer base.CloseIdleConnections()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, broken.URL, strings.NewReader(`{"model":"m","stream":true}`))
			if err != nil {
				t.Fatal(err)
			}
			w := Watch(r, "p", &wordDecoder{}, nil)
			response, err := w.RoundTrip(base, r)
			if err == nil {
				response.Body.Close()
				t.Fatal("there was an answer")
			}
			if f, ok := failure.AsFailure(w.Err(nil)); !ok || f.Model != "p/m" || strings.Contains(f.Detail, "GetBody") {
				t.Errorf("%+v", w.Err(nil))
			}
			if n := broken.Requests(); n != 1 {
				t.Errorf("one attempt was %d requests", n)
			}
		})
	}
}

// TestOneRequestOnAnIdleConnection has a server that answers once on a connection, takes a
// second request there, and goes away.
func TestOneRequestOnAnIdleConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan string, 100)
	go serveTwice(ln, requests)
	t.Cleanup(func() { ln.Close() })
	c, err := New(Config{Provider: "p", BaseURL: "http://" + ln.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.http.CloseIdleConnections()
	ask(t, c)
	if f := ask(t, c); f.Kind != failure.KindUnreachable {
		t.Errorf("%+v", f)
	}
	if n := len(requests); n != 2 {
		t.Errorf("two attempts were %d requests", n)
	}
}

func serveTwice(ln net.Listener, requests chan<- string) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			buf := make([]byte, 64<<10)
			for i := range 2 {
				n, err := conn.Read(buf)
				if err != nil {
					return
				}
				requests <- string(buf[:n])
				if i == 0 {
					_, _ = io.WriteString(conn, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
				}
			}
		}()
	}
}

func breakTransport(t *testing.T, name string) *faultlab.Broken {
	t.Helper()
	broken, err := faultlab.Break(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broken.Close(); err != nil {
			t.Error(err)
		}
	})
	return broken
}

// trusting makes base trust what the broken server shows.
func trusting(t *testing.T, base http.RoundTripper, broken *faultlab.Broken) *http.Transport {
	t.Helper()
	transport, ok := base.(*http.Transport)
	if !ok {
		t.Fatalf("%T", base)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(broken.CA)
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = broken.Client().Transport.(*http.Transport).TLSClientConfig
	}
	transport.TLSClientConfig.RootCAs = pool
	return transport
}

// ask makes one attempt, which fails.
func ask(t *testing.T, c *Client) *failure.Failure {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errors.New("the test's patience is over"))
	defer cancel()
	var failed error
	for _, err := range c.Stream(ctx, func() (Ask, error) {
		header := http.Header{"Idempotency-Key": {"1"}} // net/http would repeat even what was read
		return Ask{Model: "p/m", Header: header, Body: []byte(`{"prompt":"hi"}`), Secrets: NewSecrets(), Decoder: &wordDecoder{}}, nil
	}) {
		failed = err
	}
	f, ok := failure.AsFailure(failed)
	if !ok {
		t.Fatalf("%v", failed)
	}
	return f
}
