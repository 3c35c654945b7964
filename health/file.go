package health

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

const (
	maxFile      = 1 << 20 // bytes
	fileVersion  = 1
	refreshEvery = time.Second
	stuckFor     = 30 * time.Second
	lockPatience = 5 * time.Second // after that, the day's budget may be exceeded by what other processes spend
)

// errCorrupt says that the file is not, or not completely, one that Open wrote.
var errCorrupt = errors.New("not a health file")

// Open makes a Health that is kept in a JSON file, which several processes may share. The file is
// created with the first cooldown. A corrupt one is renamed to path+".corrupt" and logged. Open
// fails if the file cannot be read, or was written by a newer version.
func Open(path string) (*Health, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("health: %w", err)
	}
	s := &file{path: path, patience: lockPatience}
	k, err := s.load()
	if errors.Is(err, errCorrupt) {
		s.setAside(err)
		k, err = nothing(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("health: %w", err)
	}
	return &Health{known: k, shared: s}, nil
}

// file is the shared file. Its lock is held to read or write the file, but not to read the memory.
type file struct {
	mu        sync.Mutex
	path      string
	seen      os.FileInfo // describes the version of the file that is in memory
	unsaved   bool        // memory has changes that could not be written
	unwritten spending    // those of them that are spending
	patience  time.Duration
	stuck     time.Time // until then the lock is only tried, since another process holds it

	next    sync.Mutex
	checked time.Time
	busy    bool
}

// stored is the contents of the file.
type stored struct {
	Version   int      `json:"version"`
	Cooldowns records  `json:"cooldowns"`
	Spent     spending `json:"spent,omitempty"`
}

// soon runs refresh in the background, at most once a second.
func (s *file) soon(at time.Time, refresh func()) {
	s.next.Lock()
	defer s.next.Unlock()
	if s.busy || at.Sub(s.checked).Abs() < refreshEvery {
		return
	}
	s.busy, s.checked = true, at
	go func() {
		refresh()
		s.next.Lock()
		defer s.next.Unlock()
		s.busy = false
	}()
}

// read gives the file's contents if they have changed; memory is what is known so far.
func (s *file) read(memory *known) (*known, bool) {
	info, err := os.Stat(s.path)
	if err != nil || (s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) && info.Size() == s.seen.Size()) {
		return nil, false
	}
	k, err := s.load()
	if err != nil {
		return nil, false // the next writer deals with it
	}
	s.add(k, memory)
	return k, true
}

// add adds what could not be written to the file's contents.
func (s *file) add(k, memory *known) {
	if s.unsaved {
		k.cooldowns.merge(memory.cooldowns)
		k.spent.merge(s.unwritten)
	}
}

// update applies change to the file's contents, writes the result and returns it. If the file
// cannot be used, change is applied to memory.
func (s *file) update(memory *known, change func(*known)) *known {
	unlock, err := s.lock()
	if err != nil {
		return s.keepInMemory(memory, change, err)
	}
	defer unlock()
	k, err := s.load()
	if errors.Is(err, errCorrupt) {
		s.setAside(err)
		k, err = nothing(), nil
		s.unsaved, s.unwritten = true, memory.spent
	}
	if err != nil {
		return s.keepInMemory(memory, change, err)
	}
	inFile := maps.Clone(k.spent)
	s.add(k, memory)
	change(k)
	if err := s.save(k); err != nil {
		s.unsaved, s.unwritten = true, k.spent.since(inFile)
		slog.Warn("health: what is known is kept in memory only", "error", err)
		return k
	}
	s.unsaved, s.unwritten = false, nil
	return k
}

// lock takes the file's lock. After it has waited in vain, the next callers need not wait.
func (s *file) lock() (unlock func(), err error) {
	patience := s.patience
	if time.Now().Before(s.stuck) {
		patience = 0
	}
	unlock, err = lock(s.path+".lock", patience)
	if err == nil {
		s.stuck = time.Time{}
	} else if patience > 0 {
		s.stuck = time.Now().Add(stuckFor)
	}
	return unlock, err
}

func (s *file) keepInMemory(memory *known, change func(*known), err error) *known {
	before := maps.Clone(memory.spent)
	change(memory)
	if s.unwritten == nil {
		s.unwritten = spending{}
	}
	s.unwritten.merge(memory.spent.since(before))
	s.unsaved = true
	slog.Warn("health: what is known is kept in memory only", "error", err)
	return memory
}

// load reads and checks the file; a missing file counts as empty.
func (s *file) load() (*known, error) {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nothing(), nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", s.path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	k, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	s.seen = info
	return k, nil
}

func parse(data []byte) (*known, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%w: more than %d bytes", errCorrupt, maxFile)
	}
	var st stored
	if err := json.Unmarshal(data, &st); err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if st.Version > fileVersion {
		return nil, fmt.Errorf("version %d is newer than this program", st.Version)
	}
	if st.Version != fileVersion || st.Cooldowns == nil {
		return nil, fmt.Errorf("%w: no version or no cooldowns", errCorrupt)
	}
	for scope, r := range st.Cooldowns {
		if !r.valid(scope) {
			return nil, fmt.Errorf("%w: cooldown %.100q", errCorrupt, scope)
		}
	}
	if !st.Spent.valid() {
		return nil, fmt.Errorf("%w: what was spent", errCorrupt)
	}
	if st.Spent == nil {
		st.Spent = spending{}
	}
	return &known{cooldowns: st.Cooldowns, spent: st.Spent}, nil
}

func (r record) valid(scope string) bool {
	return scope != "" && len(scope) <= maxName && utf8.ValidString(scope) &&
		r.Kind != "" && r.Failures > 0 && r.Failures <= maxRecords && !r.Until.IsZero()
}

// save replaces the file as a whole. It is not synced: a power failure costs a few entries, while
// a sync would cost every call milliseconds.
func (s *file) save(k *known) error {
	data, err := encode(k)
	if err != nil {
		return err
	}
	if err := wholefile.Replace(s.path, data, 0o600); err != nil {
		return err
	}
	s.seen, err = os.Stat(s.path) // nobody else writes it while the lock is held
	return err
}

// encode fits the contents into maxFile by leaving out the cooldowns that end first.
func encode(k *known) ([]byte, error) {
	for {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetIndent("", "\t")
		if err := enc.Encode(stored{Version: fileVersion, Cooldowns: k.cooldowns, Spent: k.spent}); err != nil {
			return nil, err
		}
		if buf.Len() <= maxFile {
			return buf.Bytes(), nil
		}
		k.cooldowns.keep(len(k.cooldowns) / 2)
	}
}

func (s *file) setAside(cause error) {
	err := os.Rename(s.path, s.path+".corrupt")
	slog.Warn("health: starting without what a corrupt file knew", "kept as", s.path+".corrupt", "error", errors.Join(cause, err))
}
