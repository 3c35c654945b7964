package plugininstall

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// stage is a folder that is being created or removed. A marker file beside it says so; a process
// that works on the folder keeps it locked.
type stage struct {
	folder string
	marker *os.File
}

const (
	lockFile   = ".lock"
	markerLead = ".unfinished-"
)

// begin creates a new folder. It is created at its final path, because paths in it must not change
// later.
func (in *Installer) begin(name string) (*stage, error) {
	unlock, err := in.locked()
	if err != nil {
		return nil, err
	}
	defer unlock()
	in.sweep()
	folder, err := os.MkdirTemp(in.Folder, config.NameOfProgram(name)+"-*")
	if err != nil {
		return nil, err
	}
	s, err := mark(folder)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, nil
}

// mark says that this process works on a folder.
func mark(folder string) (*stage, error) {
	path := filepath.Join(filepath.Dir(folder), markerLead+filepath.Base(folder))
	marker, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(marker.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another process is at %s", folder), marker.Close())
	}
	return &stage{folder, marker}, nil
}

// finish keeps the folder as it is.
func (s *stage) finish() error { return errors.Join(os.Remove(s.marker.Name()), s.marker.Close()) }

// discard removes the folder.
func (s *stage) discard() error {
	if err := os.RemoveAll(s.folder); err != nil {
		return errors.Join(err, s.marker.Close()) // the marker stays: the next process tries again
	}
	return s.finish()
}

// locked creates the folder of all plugins and takes its lock, so that configs and folders are
// changed by one process at a time.
func (in *Installer) locked() (unlock func(), err error) {
	if err := os.MkdirAll(in.Folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(in.Folder, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing unlocks it; nothing was written
}

// sweep removes what killed processes have left. The caller holds the lock.
func (in *Installer) sweep() {
	entries, _ := os.ReadDir(in.Folder)
	for _, entry := range entries {
		name, ok := strings.CutPrefix(entry.Name(), markerLead)
		if !ok {
			continue
		}
		s, err := mark(filepath.Join(in.Folder, name))
		switch {
		case err != nil: // another process works on it
		case isNamed(s.folder):
			_ = s.finish() // it was killed just before this
		default:
			_ = errors.Join(s.undo(), s.discard())
		}
	}
}

// change is what a marker says about a change to two files, so that half of it can be undone.
type change struct {
	Lock string      `json:"lock"` // the file
	Name string      `json:"name"` // of the plugin
	Was  trust.Entry `json:"was"`
	Now  string      `json:"now"` // its new pin
}

// intends records what is about to be changed in the lock file, before the config is.
func (s *stage) intends(c change) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := s.marker.WriteAt(text, 0); err != nil {
		return err
	}
	return s.marker.Sync()
}

// undo reverts in the lock file what was intended, if it was done.
func (s *stage) undo() error {
	var c change
	if text, err := wholefile.Read(s.marker.Name(), maxMarker); err != nil || len(text) == 0 || json.Unmarshal(text, &c) != nil {
		return err
	}
	l, err := trust.ReadLock(c.Lock)
	if err != nil || l.Plugins[c.Name].SHA256 != c.Now {
		return err
	}
	return l.Set(c.Name, c.Was)
}

// isNamed reports whether the config for which a folder was created names it, or cannot be
// read.
func isNamed(folder string) bool {
	r, err := readReceipt(folder)
	if err != nil {
		return false // there is none yet
	}
	source, err := os.ReadFile(r.Config)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	c, parseErr := config.Parse(source)
	return err != nil || parseErr != nil || slices.ContainsFunc(c.Plugins, func(p config.Plugin) bool { return p.Folder == folder })
}

// Receipt is a file in a plugin's folder that says where the plugin came from.
type Receipt struct {
	Source   string `json:"source"` // as it can be typed
	Version  string `json:"version"`
	Checksum string `json:"checksum,omitempty"` // of what was fetched, with the name of its algorithm
	Config   string `json:"config"`             // for which it was installed
}

const (
	receiptName = "mulligan-install.json"
	maxReceipt  = 16 << 10  // bytes
	maxMarker   = 256 << 10 // bytes
)

func readReceipt(folder string) (r Receipt, err error) {
	text, err := wholefile.Read(filepath.Join(folder, receiptName), maxReceipt)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

func (r Receipt) write(folder string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.ReplaceDurably(filepath.Join(folder, receiptName), append(text, '\n'), 0o600)
}
