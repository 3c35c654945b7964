package devlink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// Link says where "plugin dev" answers for a plugin. It is stored in a file that only
// this user can read or write: whoever may read it may ask.
type Link struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"` // the plugin that it stands in for
	Network  string `json:"network"`
	Addr     string `json:"addr"`
	PID      int    `json:"pid"` // of the process that answers
}

// How the two ends find each other.
const (
	Protocol    = 1
	maxDevLink  = 64 << 10 // bytes
	DialTimeout = time.Second
)

// Path is the file that says who answers for the plugin of that name.
func Path(state, name string) string { return filepath.Join(state, "dev", name+".json") }

// Find returns the process that answers for that plugin, nil if there is none. It
// removes what a dead process has left behind.
func Find(ctx context.Context, state, name string) (*Link, error) {
	path := Path(state, name)
	link, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if link.Protocol != Protocol || link.Name != name || link.Network != "unix" {
		return nil, fmt.Errorf("%s comes from another version of this program, or from another plugin", path)
	}
	conn, err := (&net.Dialer{Timeout: DialTimeout}).DialContext(ctx, link.Network, link.Addr)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return link, conn.Close()
}

// Read reads a link from the file at path.
func Read(path string) (*Link, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || !ok || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return nil, errors.New("it is not a file that only this user can write")
	}
	text, err := io.ReadAll(io.LimitReader(file, maxDevLink))
	if err != nil {
		return nil, err
	}
	link := &Link{}
	return link, json.Unmarshal(text, link)
}

// Write writes the link to the file at path.
func (l *Link) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return wholefile.Replace(path, text, 0o600)
}

// Socket listens in a new folder that nobody else can look into.
func Socket(ctx context.Context) (listener net.Listener, folder string, err error) {
	const longest = 100 // bytes in a socket's path, on every system
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if parent == "" {
			continue
		}
		if folder, err = os.MkdirTemp(parent, "mulligan-dev-"); err != nil {
			continue
		}
		path := filepath.Join(folder, "plugin.sock")
		if len(path) <= longest {
			if listener, err = (&net.ListenConfig{}).Listen(ctx, "unix", path); err == nil {
				return listener, folder, nil
			}
		}
		_ = os.Remove(folder)
	}
	return nil, "", fmt.Errorf("no folder for a socket: %w", err)
}
