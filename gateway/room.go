package gateway

import (
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// mostReserved is what is kept from connections at most, in descriptors.
const mostReserved = 256

// maxConnections is how many connections a gateway takes at a time. What a process may open is
// not theirs alone: half of it, or 256, is for the store, the tools and what asks the models.
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

// roomy is a listener that lets connections wait while there are as many as there may be.
type roomy struct {
	net.Listener
	places chan struct{}
	full   func() // makes room, if there is something idle; may be nil
	closed chan struct{}
	once   sync.Once
}

// KeepRoom is a listener for connections that leave the process descriptors for the rest of its
// work: those that are too many wait in the system. full is called when that begins.
func KeepRoom(l net.Listener, full func()) net.Listener { return keepRoom(l, maxConnections(), full) }

func keepRoom(l net.Listener, most int64, full func()) net.Listener {
	const usual = 1 << 20 // more than a machine has
	return &roomy{Listener: l, places: make(chan struct{}, min(most, usual)), full: full, closed: make(chan struct{})}
}

// Accept waits for a place and a connection.
func (r *roomy) Accept() (net.Conn, error) {
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
	return &placed{Conn: conn, places: r.places}, nil
}

// Close ends it, and who waits.
func (r *roomy) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.Listener.Close()
}

// placed is a connection that gives its place up, once.
type placed struct {
	net.Conn
	places chan struct{}
	gone   atomic.Bool
}

// Close gives the place up.
func (p *placed) Close() error {
	if p.gone.CompareAndSwap(false, true) {
		defer func() { <-p.places }()
	}
	return p.Conn.Close()
}
