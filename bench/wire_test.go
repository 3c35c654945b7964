package bench

import (
	"context"
	"net"
	"sync"
	"time"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// failover watches one client's connections and measures the time between the last byte of an
// answer and the first byte of the next request, on whichever connection that is sent.
type failover struct {
	mu    sync.Mutex
	last  time.Time // when bytes last arrived, since the last request
	spans spans
}

// start forgets the previous answer.
func (f *failover) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = time.Time{}
}

func (f *failover) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: conn, watch: f}, nil
}

type watchedConn struct {
	net.Conn
	watch *failover
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.watch.mu.Lock()
		c.watch.last = time.Now()
		c.watch.mu.Unlock()
	}
	return n, err
}

func (c *watchedConn) Write(p []byte) (int, error) {
	c.watch.mu.Lock()
	if !c.watch.last.IsZero() {
		c.watch.spans = append(c.watch.spans, time.Since(c.watch.last))
		c.watch.last = time.Time{}
	}
	c.watch.mu.Unlock()
	return c.Conn.Write(p)
}
