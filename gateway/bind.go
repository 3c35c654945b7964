package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// unixPrefix begins the address of a unix socket: "unix:/path".
const unixPrefix = "unix:"

// ErrOpen is why CheckBind refuses an address that is not this machine's alone.
var ErrOpen = errors.New("others can reach this address, and read along")

// CheckBind refuses an address at which others could connect or read along (S01). A
// loopback address (127.0.0.0/8, ::1, localhost) or a unix socket is allowed. Any other
// needs TLS, or exposed, with which a person says that something else protects the
// connection. The token is always required; that is NewGuard's job.
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
	return fmt.Errorf("%w: give it a certificate (--tls-cert, --tls-key), or say --expose if a proxy or a tunnel sees to that", ErrOpen)
}

// isLoopback does not resolve names, because a name may resolve differently later.
func isLoopback(host string) bool {
	host, _, _ = strings.Cut(host, "%")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// Listen listens at an address that CheckBind allows. Only its owner can use a unix
// socket (mode 0600). A socket left by a dead process is replaced.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	path, ok := strings.CutPrefix(addr, unixPrefix)
	if !ok {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	}
	if err := removeDead(ctx, path); err != nil {
		return nil, err
	}
	return listenUnix(ctx, path)
}

// listenUnix creates the socket in a folder that nobody else can enter, and moves it to its
// path once only its owner can use it, so that others can never connect. Setting the umask
// would do, too, but the umask belongs to the whole process.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".m-*") // mode 0700
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the socket has another name by then
	made := filepath.Join(dir, "s")
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", made)
	if err != nil {
		return nil, err
	}
	own, ok := listener.(*net.UnixListener)
	if !ok {
		return nil, errors.Join(errors.New("this is not a unix socket"), listener.Close())
	}
	own.SetUnlinkOnClose(false) // see placedSocket
	err = os.Chmod(made, 0o600)
	if err == nil {
		err = os.Link(made, path) // it does not replace a file at that path
	}
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return &placedSocket{own, path}, nil
}

// placedSocket is a unix socket that was moved to its path.
type placedSocket struct {
	*net.UnixListener
	path string
}

// Addr is the path it was moved to.
func (s *placedSocket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// Close also removes the socket's file.
func (s *placedSocket) Close() error {
	return errors.Join(s.UnixListener.Close(), os.Remove(s.path))
}

// removeDead removes a socket on which nobody listens.
func removeDead(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket: choose another path", path)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err == nil {
		return errors.Join(fmt.Errorf("another process already listens at %s", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
