package tui

import (
	"net/http"
	"sync/atomic"
)

// Link is an http.RoundTripper that knows whether the gateway answers. It is for the
// HTTP client of the chat's client.Client, which reconnects by itself and does not
// report it.
type Link struct {
	Base http.RoundTripper // nil = http.DefaultTransport
	down atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (l *Link) RoundTrip(r *http.Request) (*http.Response, error) {
	base := l.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r)
	if r.Context().Err() == nil {
		l.down.Store(err != nil)
	}
	return resp, err
}

// isDown reports whether the last request found no gateway. A nil Link is never down.
func (l *Link) isDown() bool { return l != nil && l.down.Load() }
