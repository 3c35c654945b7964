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
	stateEvery = 250 * time.Millisecond // at most so often
	maxState   = 1 << 20                // bytes of one host's state

	strangeStates = 7 * 24 * time.Hour // is how long those of other machines and containers are kept
)

// HostState is what a host tells about its plugins to other processes.
type HostState struct {
	PID     int       `json:"pid"`
	Started string    `json:"started"` // when the process began, in the system's own terms
	Updated time.Time `json:"updated"`
	Plugins []Status  `json:"plugins"`
}

// WithStateDir makes a host tell other processes how its plugins are: it keeps
// Statuses in a file of dir, for ReadStates, and each plugin's log, bounded, in
// dir/logs/NAME.log. Each process has a folder of its plugin's own in dir/state. The folder is made if need be, and must belong to the user alone;
// if it cannot be used, the host's log says so, and that is all.
func WithStateDir(dir string) Option { return func(h *Host) { h.stateDir = dir } }

// LogFile is where a host with that state folder keeps a plugin's log: JSON lines with
// time, level, msg and, where the plugin told, run and session. What was there before
// the last rotations is in the same path with .1 and .2 appended.
func LogFile(dir, plugin string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, plugin)
	return filepath.Join(dir, "logs", name+".log")
}

// stateFile is where one host tells how its plugins are.
type stateFile struct {
	path     string
	logger   *slog.Logger
	statuses func() []Status
	started  string

	writing sync.Mutex // one write at a time
	mu      sync.Mutex
	due     *time.Timer // the next write; nil while there is nothing new
	last    time.Time
	closed  bool
}

// stateFiles counts those of this process.
var stateFiles atomic.Int64

// newStateFile makes the folders, too.
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

// ownFolder makes a folder that nobody else can use, or checks one.
func ownFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOurs(info) {
		return fmt.Errorf("%s is not a folder of this user's", dir)
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

// touch has the state written soon. It may be called with any lock held.
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
		// A power cut may lose it, which is no loss: the processes that it is about are gone then.
		err = wholefile.Replace(f.path, text, 0o600)
	}
	if err != nil {
		f.logger.Warn("the state of plugins was not written", "error", err)
	}
}

// close removes the state.
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

// ReadStates gives what the hosts with that state folder tell about their plugins, and
// removes what hosts have left behind that are gone. Those of other machines and
// containers that share the folder are left out. A folder that does not exist holds none.
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
		return state, fmt.Errorf("%s is not a file of this user's", path)
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
