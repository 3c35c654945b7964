package gateway_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// TestS01WhereAGatewayMayListen: loopback and unix sockets, or with TLS or on a person's word.
func TestS01WhereAGatewayMayListen(t *testing.T) {
	const never, word, always = 0, 1, 2
	for addr, want := range map[string]int{
		"127.0.0.1:8484": always, "127.9.9.9:0": always, "[::1]:8484": always, "localhost:8484": always, "LOCALHOST:1": always, "unix:/tmp/x": always,
		"0.0.0.0:8484": word, ":8484": word, "[::]:8484": word, "192.168.1.5:8484": word, "10.0.0.1:80": word, "example.com:80": word,
		"localhost.evil.com:80": word, "127.0.0.1.nip.io:80": word, "[fe80::1%eth0]:1": word, "127.1:8484": word,
		"": never, "8484": never, "127.0.0.1": never, "unix:": never, "::1:8484": never,
	} {
		for _, c := range []struct{ tls, exposed bool }{{}, {tls: true}, {exposed: true}} {
			good := want == always || want == word && (c.tls || c.exposed)
			if err := gateway.CheckBind(addr, c.tls, c.exposed); (err == nil) != good {
				t.Errorf("%q %+v: %v", addr, c, err)
			}
		}
	}
}

func TestS01AUnixSocketIsItsOwners(t *testing.T) {
	dir, err := os.MkdirTemp("", "s01") // a test's own folder has too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	first, err := gateway.Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := gateway.Listen(t.Context(), "unix:"+path); err == nil {
		t.Error("two listen at one socket")
	}
	first.Close()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a socket that was closed is left: %v", err)
	}
	dead, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false) // as after a kill
	dead.Close()
	second, err := gateway.Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal("after a process that was killed:", err)
	}
	if at := second.Addr(); at.String() != path || at.Network() != "unix" {
		t.Errorf("it says that it is at %v", at)
	}
	second.Close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("there is left %v", left)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.Listen(t.Context(), "unix:"+path); err == nil {
		t.Error("a file was replaced by a socket")
	}
}

// TestS01AUnixSocketIsNeverForAll: whatever the umask, there is no moment in which others may
// connect.
func TestS01AUnixSocketIsNeverForAll(t *testing.T) {
	dir, err := os.MkdirTemp("", "s01")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	defer syscall.Umask(syscall.Umask(0))
	done, open := make(chan struct{}), make(chan os.FileMode, 1)
	go func() {
		defer close(open)
		for {
			select {
			case <-done:
				return
			default:
			}
			if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
				open <- info.Mode()
				return
			}
		}
	}()
	for range 300 {
		l, err := gateway.Listen(t.Context(), "unix:"+path)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	close(done)
	if mode, seen := <-open; seen {
		t.Errorf("it had mode %v", mode)
	}
}
