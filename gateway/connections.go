package gateway

import (
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// mostReserved is how many descriptors at most are kept back from connections.
const mostReserved = 256

// maxConnections is how many connections a gateway accepts at a time. They do not get all
// descriptors of the process: half of them, but at most 256, are for the store, the tools and
// calls to models.
func maxConnections() int64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return connectionsOf(limit.Cur)
}

func connectionsOf(descriptors uint64) int64 {
	most := int64(descriptors)
	return most - min(most/2, mostReserved)
}

// limitedListener is a listener that makes connections wait while the limit is reached.
type limitedListener struct {
	net.Listener
	places chan struct{}
	full   func() // closes idle connections, if there are any; may be nil
	closed chan struct{}
	once   sync.Once
}

// KeepRoom is a listener that leaves the process descriptors for the rest of its work:
// connections beyond the limit wait in the system's queue. full is called when the limit is
// reached.
func KeepRoom(l net.Listener, full func()) net.Listener { return keepRoom(l, maxConnections(), full) }

func keepRoom(l net.Listener, most int64, full func()) net.Listener {
	const usual = 1 << 20 // more than any machine has
	return &limitedListener{Listener: l, places: make(chan struct{}, min(most, usual)), full: full, closed: make(chan struct{})}
}

// Accept waits for a free slot and a connection.
func (r *limitedListener) Accept() (net.Conn, error) {
	select {
	case r.places <- struct{}{}:
	default:
		r.full()
		select {
		case r.places <- struct{}{}:
		case <-r.closed:
			return nil, net.ErrClosed
		}
	}
	conn, err := r.Listener.Accept()
	if err != nil {
		<-r.places
		return nil, err
	}
	return &limitedConn{Conn: conn, places: r.places}, nil
}

// Close ends the listener, and any Accept that waits.
func (r *limitedListener) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.Listener.Close()
}

// limitedConn is a connection that frees its slot once.
type limitedConn struct {
	net.Conn
	places chan struct{}
	gone   atomic.Bool
}

// Close frees the slot.
func (p *limitedConn) Close() error {
	if p.gone.CompareAndSwap(false, true) {
		defer func() { <-p.places }()
	}
	return p.Conn.Close()
}
