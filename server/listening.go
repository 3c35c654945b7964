package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Listening tells other processes about a "mulligan serve" with an HTTP server, in a file
// that it keeps locked while it runs.
type Listening struct {
	PID     int       `json:"pid"`
	Address string    `json:"address"`       // where it listens, host:port or unix:/path
	URL     string    `json:"url,omitempty"` // for a browser on this machine; "" on a unix socket
	TLS     bool      `json:"tls,omitempty"`
	Since   time.Time `json:"since"`

	file *os.File
}

// Way is how a process on this machine reaches it: the base URL, and a transport that connects to
// nothing else. The certificate is not checked, since it is for another name.
func (s *Listening) Way() (base string, way *http.Transport) {
	network, address := "tcp", s.Address
	if path, ok := strings.CutPrefix(s.Address, "unix:"); ok {
		network, address = "unix", path
	} else if host, port, err := net.SplitHostPort(s.Address); err == nil {
		if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
			address = net.JoinHostPort("127.0.0.1", port)
		}
	}
	scheme, name := "http://", address
	if s.TLS {
		scheme = "https://"
	}
	if network == "unix" {
		name = "localhost"
	}
	return scheme + name, &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // it is a process of this user's on this machine, which holds the lock of its file
	}
}

// ListeningDir is the folder of those files.
func ListeningDir(state string) string { return filepath.Join(state, "listening") }

// Announce writes the file; Withdraw removes it.
func (s *Listening) Announce(state string) error {
	dir := ListeningDir(state)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err == nil {
		err = os.Rename(f.Name(), s.path(state))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	s.file = f
	return nil
}

func (s *Listening) path(state string) string {
	return filepath.Join(ListeningDir(state), strconv.Itoa(s.PID)+".json")
}

// Withdraw undoes Announce.
func (s *Listening) Withdraw(state string) error {
	return errors.Join(os.Remove(s.path(state)), s.file.Close())
}

// ListeningNow lists the processes that serve this state folder, newest first. It removes
// the files of killed processes.
func ListeningNow(state string) ([]Listening, error) {
	entries, err := os.ReadDir(ListeningDir(state))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Listening
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		path := filepath.Join(ListeningDir(state), e.Name())
		s, alive, err := readListening(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has just ended
		case err != nil:
			return nil, err
		case alive:
			list = append(list, s)
		default:
			_ = os.Remove(path) // this only tidies up
		}
	}
	slices.SortFunc(list, func(a, b Listening) int { return b.Since.Compare(a.Since) })
	return list, nil
}

func readListening(path string) (s Listening, alive bool, err error) {
	const most = 4096
	f, err := os.Open(path)
	if err != nil {
		return s, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return s, false, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return s, false, err
	}
	err = json.Unmarshal(data, &s)
	return s, true, err
}
