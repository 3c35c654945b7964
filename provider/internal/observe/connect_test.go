package observe

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// TestConnectTimeout has a network on which no connection comes to stand: the dial
// hangs, or the TLS handshake after it.
func TestConnectTimeout(t *testing.T) {
	for name, tt := range map[string]struct {
		handshake    bool
		client, asks time.Duration
		want         time.Duration // 0 = never
	}{
		"the adapter's own":    {want: DefaultConnectTimeout},
		"the client's":         {client: 3 * time.Second, want: 3 * time.Second},
		"the request's":        {client: 3 * time.Second, asks: time.Minute, want: time.Minute},
		"in the handshake":     {handshake: true, asks: 40 * time.Second, want: 40 * time.Second},
		"off":                  {asks: -1},
		"off in the handshake": {handshake: true, asks: -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := silentNetwork{handshake: tt.handshake, over: make(chan struct{})}
				defer close(network.over)
				c, err := New(Config{Provider: "p", BaseURL: "https://silent.example", ConnectTimeout: tt.client, DialContext: network.dial})
				if err != nil {
					t.Fatal(err)
				}
				const patience = 2 * time.Minute
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				began := time.Now()
				var failed error
				for _, err := range c.Stream(ctx, func() (Ask, error) {
					return Ask{Model: "p/m", Header: http.Header{}, Secrets: NewSecrets(), Decoder: &wordDecoder{}, Connect: tt.asks}, nil
				}) {
					failed = err
				}
				f, ok := failure.AsFailure(failed)
				took := time.Since(began)
				switch {
				case tt.want == 0 && (ok || took != patience):
					t.Errorf("without a limit: %v after %s", failed, took)
				case tt.want == 0:
				case !ok || f.Kind != failure.KindTimeout || f.Timer != failure.TimerConnect || f.Phase != failure.PhaseBeforeConnect:
					t.Errorf("%+v", failed)
				case took != tt.want || f.Limit.Duration() != tt.want:
					t.Errorf("after %s, limit %d ms; want %s", took, f.Limit, tt.want)
				}
			})
		})
	}
}

// TestASilentNameServer: what keeps silent is the network here, not the provider.
func TestASilentNameServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		defer close(over)
		c, err := New(Config{Provider: "p", BaseURL: "https://silent.example", DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			httptrace.ContextClientTrace(ctx).DNSStart(httptrace.DNSStartInfo{Host: "silent.example"})
			<-over
			return nil, io.EOF
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range c.Stream(t.Context(), func() (Ask, error) {
			return Ask{Model: "p/m", Header: http.Header{}, Secrets: NewSecrets(), Decoder: &wordDecoder{}}, nil
		}) {
			f, ok := failure.AsFailure(err)
			if !ok || f.Kind != failure.KindUnreachable || f.Phase != failure.PhaseBeforeConnect || f.Title != "Could not reach p" {
				t.Errorf("%+v", err)
			}
		}
	})
}

// silentNetwork says nothing until it is over: to a dial, or to what is sent.
type silentNetwork struct {
	handshake bool
	over      chan struct{}
}

func (s silentNetwork) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if !s.handshake {
		select {
		case <-ctx.Done():
		case <-s.over:
		}
		return nil, io.EOF
	}
	ours, theirs := net.Pipe()
	go func() {
		<-s.over
		theirs.Close()
	}()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	return ours, nil
}
