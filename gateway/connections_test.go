package gateway

import (
	"net"
	"testing"
	"testing/synctest"
)

// endless is a listener to which new connections never stop coming.
type endless struct{ net.Listener }

func (endless) Accept() (net.Conn, error) {
	c, _ := net.Pipe()
	return c, nil
}
func (endless) Close() error { return nil }

// TestConnectionsLeaveRoom: those that are too many wait until others end, and nobody waits
// for a listener that is closed.
func TestConnectionsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := 0
		l := keepRoom(endless{}, 2, func() { full++ })
		came, closed := make(chan net.Conn), make(chan error)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					closed <- err
					return
				}
				came <- c
			}
		}()
		first, second := <-came, <-came
		synctest.Wait()
		select {
		case <-came:
			t.Fatal("a third is let in")
		default:
		}
		if full != 1 {
			t.Errorf("it was said %d times that there is no room", full)
		}
		first.Close()
		first.Close()
		third := <-came
		synctest.Wait()
		select {
		case <-came:
			t.Fatal("a place was given up twice")
		default:
		}
		l.Close()
		if err := <-closed; err == nil {
			t.Error("it goes on after its end")
		}
		second.Close()
		third.Close()
	})
}

// TestConnectionsAreNotAll: some file descriptors are kept for other uses than connections.
func TestConnectionsAreNotAll(t *testing.T) {
	for limit, want := range map[uint64]int64{64: 32, 256: 128, 1024: 768, 1 << 20: 1<<20 - mostReserved} {
		if got := connectionsOf(limit); got != want {
			t.Errorf("of %d descriptors connections have %d", limit, got)
		}
	}
}
