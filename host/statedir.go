package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/internal/wholefile"
)

const (
	stateEvery = 250 * time.Millisecond // the state is written at most this often
	maxState   = 1 << 20                // bytes in one host's state

	strangeStates = 7 * 24 * time.Hour // how long the states of other machines and containers are kept
)

// HostState is what a host tells other processes about its plugins.
type HostState struct {
	PID     int       `json:"pid"`
	Started string    `json:"started"` // when the process began, in the system's own format
	Updated time.Time `json:"updated"`
	Plugins []Status  `json:"plugins"`
}

// WithStateDir makes a host tell other processes about its plugins: it keeps Statuses in a file in
// dir, for ReadStates, and each plugin's log, bounded, in dir/logs/NAME.log. Each plugin also gets a
// folder of its own in dir/state. dir is created if necessary, and must belong to this user alone. If
// it cannot be used, the host logs a warning and runs without it.
func WithStateDir(dir string) Option { return func(h *Host) { h.stateDir = dir } }

// LogFile is where a host with that state folder keeps a plugin's log: JSON lines with
// time, level, msg and, if the plugin gave them, run and session. Older lines are in
// the same path with .1 and .2 appended.
func LogFile(dir, plugin string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, plugin)
	return filepath.Join(dir, "logs", name+".log")
}

// stateFile is the file in which one host describes its plugins.
type stateFile struct {
	path     string
	logger   *slog.Logger
	statuses func() []Status
	started  string

	writing sync.Mutex // one write at a time
	mu      sync.Mutex
	due     *time.Timer // the next write; nil if nothing has changed
	last    time.Time
	closed  bool
}

// stateFiles counts the state files of this process.
var stateFiles atomic.Int64

// newStateFile also creates the folders.
func newStateFile(dir string, logger *slog.Logger, statuses func() []Status) (*stateFile, error) {
	for _, d := range []string{dir, filepath.Join(dir, "logs")} {
		if err := ownFolder(d); err != nil {
			return nil, err
		}
	}
	started, err := procgroup.StartedAt(os.Getpid())
	if err != nil {
		return nil, err
	}
	name := strconv.Itoa(os.Getpid())
	if n := stateFiles.Add(1); n > 1 {
		name += "-" + strconv.FormatInt(n, 10)
	}
	return &stateFile{path: filepath.Join(dir, name+".json"), logger: logger, statuses: statuses, started: started}, nil
}

// ownFolder creates a folder that nobody else can use, or checks an existing one.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOurs(info) {
		return fmt.Errorf("%s is not a folder that belongs to this user", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// touch schedules a write of the state. It may be called with any lock held.
func (f *stateFile) touch() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.due == nil && !f.closed {
		f.due = time.AfterFunc(time.Until(f.last.Add(stateEvery)), f.write)
	}
}

func (f *stateFile) write() {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	f.due, f.last = nil, time.Now()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return
	}
	state := HostState{PID: os.Getpid(), Started: f.started, Updated: time.Now(), Plugins: f.statuses()}
	text, err := json.Marshal(state)
	if err == nil {
		// A power cut may lose it, but then the processes that it describes are gone, too.
		err = wholefile.Replace(f.path, text, 0o600)
	}
	if err != nil {
		f.logger.Warn("the state of plugins was not written", "error", err)
	}
}

// close removes the state file.
func (f *stateFile) close() {
	if f == nil {
		return
	}
	f.mu.Lock()
	f.closed = true
	if f.due != nil {
		f.due.Stop()
		f.due = nil
	}
	f.mu.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	_ = os.Remove(f.path)
}

// ReadStates returns the states of the hosts that use that folder, and removes what dead
// hosts have left behind. It skips hosts on other machines and in containers that share
// the folder. A folder that does not exist is an empty one.
func ReadStates(dir string) ([]HostState, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var states []HostState
	var errs []error
	for _, path := range paths {
		state, err := readState(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its host has just closed
		case err != nil:
			errs = append(errs, err)
		case procgroup.LifeOf(state.PID, state.Started) == procgroup.LifeGoesOn:
			states = append(states, state)
		case procgroup.LifeOf(state.PID, state.Started) == procgroup.LifeGone || time.Since(state.Updated) > strangeStates:
			_ = os.Remove(path)
			_ = os.Remove(path + ".next")
		}
	}
	return states, errors.Join(errs...)
}

func readState(path string) (state HostState, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return state, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return state, err
	}
	if !info.Mode().IsRegular() || !isOurs(info) {
		return state, fmt.Errorf("%s is not a file that belongs to this user", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return state, err
	}
	if len(text) > maxState {
		return state, fmt.Errorf("%s has more than %d bytes", path, maxState)
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return state, fmt.Errorf("%s: %w", path, err)
	}
	return state, nil
}
