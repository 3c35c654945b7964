package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

// unixPrefix marks the address of a unix socket: "unix:/path".
const unixPrefix = "unix:"

// CheckBind refuses an address that others could reach or read along with (S01). A
// loopback address (127.0.0.0/8, ::1, localhost) or a unix socket is fine as it is; any
// other needs TLS, or a person who says with exposed that something else sees to that.
// The token is always needed: that is NewGuard's.
func CheckBind(addr string, tls, exposed bool) error {
	if path, ok := strings.CutPrefix(addr, unixPrefix); ok {
		if path == "" {
			return errors.New("unix: lacks the path of the socket, as in unix:/run/user/1000/mulligan.sock")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%w: write host:port, for example 127.0.0.1:8484, or unix:/path", err)
	}
	if tls || exposed || isLoopback(host) {
		return nil
	}
	return errors.New("others can reach this address, and read along: give it a certificate (--tls-cert, --tls-key), or say --expose if a proxy or a tunnel sees to that")
}

// isLoopback does not resolve names: what one resolves to may change.
func isLoopback(host string) bool {
	host, _, _ = strings.Cut(host, "%")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// Listen listens at an address that CheckBind lets pass. A unix socket is its owner's
// alone (mode 0600); one that a dead process left is replaced.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	path, ok := strings.CutPrefix(addr, unixPrefix)
	if !ok {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	}
	if err := removeDead(ctx, path); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// removeDead removes a socket that nobody answers at.
func removeDead(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there already and is no socket: choose another path", path)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err == nil {
		return errors.Join(fmt.Errorf("somebody serves at %s already", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
