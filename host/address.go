package host

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxAddress bounds a service's address, in bytes.
const maxAddress = 500

// address is where a plugin that runs as a service is.
type address struct {
	network string // tcp or unix
	at      string // host:port, or an absolute path
	secure  bool
}

var errAddress = errors.New("the address of a plugin is grpcs://HOST:PORT, grpc://HOST:PORT on this machine, or unix:///PATH of a socket, and nothing more")

// CheckAddress checks the syntax of a [Spec]'s Address and TLS: it reads no file and
// resolves no name. Its errors do not quote the address, which may contain a password.
func CheckAddress(text string, files *RemoteTLS) error {
	a, err := parseAddress(text)
	switch {
	case err != nil:
		return err
	case files == nil:
		return nil
	case !a.secure:
		return errors.New("certificates are for an address with grpcs://")
	case (files.Cert == "") != (files.Key == ""):
		return errors.New("a client certificate needs its key, and a key its certificate")
	case printable(files.ServerName, maxAddress) != files.ServerName:
		return errors.New("the server's name has control characters, or is too long")
	}
	return nil
}

func parseAddress(text string) (a address, err error) {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxAddress || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || printable(text, maxAddress) != text {
		return a, errAddress
	}
	switch u.Scheme {
	case "unix":
		return unixAddress(u)
	case "grpc", "grpcs":
		return tcpAddress(u)
	}
	return a, errAddress
}

func unixAddress(u *url.URL) (a address, err error) {
	path := u.Path
	switch {
	case u.Host != "" || !filepath.IsAbs(path) || filepath.Clean(path) != path || printable(path, maxAddress) != path:
		return a, errAddress
	case len(path) > maxSocketPath:
		return a, fmt.Errorf("the path of a plugin's socket has %d bytes, at most %d", len(path), maxSocketPath)
	}
	return address{network: "unix", at: path}, nil
}

func tcpAddress(u *url.URL) (a address, err error) {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 || u.Hostname() == "" || u.Path != "" || u.Opaque != "" {
		return a, errAddress
	}
	a = address{network: "tcp", at: net.JoinHostPort(u.Hostname(), u.Port()), secure: u.Scheme == "grpcs"}
	if to, err := netip.ParseAddr(u.Hostname()); err == nil && !a.secure && !to.Unmap().IsLoopback() {
		return a, errNotHere
	}
	return a, nil
}

var errNotHere = errors.New("without TLS a plugin must be on this machine: an address elsewhere is grpcs://")

// onlyHere is a net.Dialer's Control: it refuses addresses that are not on this
// machine. It runs after name resolution, so a name cannot get around it.
func onlyHere(_, at string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(at)
	if err != nil || !to.Addr().Unmap().IsLoopback() {
		return errNotHere
	}
	return nil
}

// checkServiceSocket refuses a socket that another user may have created.
func checkServiceSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is not a socket", path)
	case !ok:
		return errors.New("the system does not tell who owns a file")
	case stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, neither to this one nor to root", path, stat.Uid)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("everyone may write to %s (mode %04o)", path, info.Mode().Perm())
	}
	return checkOwners(filepath.Dir(path))
}
