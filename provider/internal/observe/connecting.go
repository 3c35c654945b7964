package observe

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// connecting is what one request does to get a connection, for the time until it has one.
type connecting struct {
	lookup atomic.Bool // the name server is asked
	steps  steps

	mu    sync.Mutex
	timer *time.Timer // runs from the first dial on; nil = nothing is dialled, or there is no limit
	got   bool
}

// traced is the request's context with hooks that follow its connection. A request that gets an
// idle connection dials nothing, so that it needs no timer.
func (t *exchange) traced(c *connecting) context.Context {
	return httptrace.WithClientTrace(t.ctx, &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { c.lookup.Store(true) },
		DNSDone:      func(httptrace.DNSDoneInfo) { c.lookup.Store(false) },
		ConnectStart: func(string, string) { c.dials(t) },

		TLSHandshakeStart: func() { c.steps.handshakes.Add(1) },
		GotConn: func(httptrace.GotConnInfo) {
			c.over()
			t.connected.Store(true)
		},
	})
}

// dials breaks the request off if it has no connection after its limit.
func (c *connecting) dials(t *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.connect > 0 && !c.got && c.timer == nil {
		c.timer = time.AfterFunc(t.connect, func() { t.cancel(errConnect) })
	}
}

// over stops waiting for a connection.
func (c *connecting) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

// dial dials, and tells the request of it even if it is not the standard library's dialler that
// does so: before the name is looked up.
func (d dialFunc) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart(network, address)
	}
	return d(ctx, network, address)
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)
