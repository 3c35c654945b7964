package health

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	maxFile      = 1 << 20 // bytes
	fileVersion  = 1
	refreshEvery = time.Second
	lockPatience = time.Second
)

// errCorrupt is a file that nobody could have written, or only half.
var errCorrupt = errors.New("not a health file")

// Open makes a Health that is kept in a JSON file, which several processes may
// share. A missing file is made with the first cooldown; a corrupt one is set
// aside as path+".corrupt" and logged. It fails where the file cannot be read, or
// was written by a newer version.
func Open(path string) (*Health, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("health: %w", err)
	}
	s := &file{path: path}
	r, err := s.load()
	if errors.Is(err, errCorrupt) {
		s.setAside(err)
		r, err = records{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("health: %w", err)
	}
	return &Health{records: r, shared: s}, nil
}

// file is the shared form. Its lock is held by whoever reads or writes the file,
// never by a reader of the memory.
type file struct {
	mu      sync.Mutex
	path    string
	seen    os.FileInfo // of the version that memory holds
	unsaved bool        // memory holds something that could not be written

	next    sync.Mutex
	checked time.Time
	busy    bool
}

// stored is the file's content.
type stored struct {
	Version   int     `json:"version"`
	Cooldowns records `json:"cooldowns"`
}

// soon runs refresh beside the caller, at most once a second.
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

// read gives what the file says if that is news; memory is what is known so far.
func (s *file) read(memory records) (records, bool) {
	info, err := os.Stat(s.path)
	if err != nil || (s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) && info.Size() == s.seen.Size()) {
		return nil, false
	}
	r, err := s.load()
	if err != nil {
		return nil, false // whoever writes next deals with it
	}
	if s.unsaved {
		r.merge(memory)
	}
	return r, true
}

// update applies change to what the file says and writes the result. Where the
// file is out of reach, change is applied to what memory knows.
func (s *file) update(memory records, change func(records) records) {
	unlock, err := lock(s.path+".lock", lockPatience)
	if err != nil {
		s.keepInMemory(memory, change, err)
		return
	}
	defer unlock()
	r, err := s.load()
	if errors.Is(err, errCorrupt) {
		s.setAside(err)
		r, err = memory, nil
	}
	if err != nil {
		s.keepInMemory(memory, change, err)
		return
	}
	if s.unsaved {
		r.merge(memory)
	}
	err = s.save(change(r))
	s.unsaved = err != nil
	if err != nil {
		slog.Warn("health: cooldowns are kept in memory only", "error", err)
	}
}

func (s *file) keepInMemory(memory records, change func(records) records, err error) {
	change(memory)
	s.unsaved = true
	slog.Warn("health: cooldowns are kept in memory only", "error", err)
}

// load reads and checks the file; a missing one is empty.
func (s *file) load() (records, error) {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return records{}, nil
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
	r, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	s.seen = info
	return r, nil
}

func parse(data []byte) (records, error) {
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
	return st.Cooldowns, nil
}

func (r record) valid(scope string) bool {
	return scope != "" && len(scope) <= maxName && utf8.ValidString(scope) &&
		r.Kind != "" && r.Failures > 0 && r.Failures <= maxRecords && !r.Until.IsZero()
}

// save replaces the file as a whole. It is not synced: a cooldown lost with the
// power costs one call, and a sync would cost every failure milliseconds.
func (s *file) save(r records) error {
	data, err := encode(r)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), ".health-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one that matters
		return err
	}
	s.seen = info
	return nil
}

// encode fits the records into maxFile; those that end first have to go.
func encode(r records) ([]byte, error) {
	for {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetIndent("", "\t")
		if err := enc.Encode(stored{Version: fileVersion, Cooldowns: r}); err != nil {
			return nil, err
		}
		if buf.Len() <= maxFile {
			return buf.Bytes(), nil
		}
		r.keep(len(r) / 2)
	}
}

func (s *file) setAside(cause error) {
	err := os.Rename(s.path, s.path+".corrupt")
	slog.Warn("health: starting without the cooldowns of a corrupt file", "kept as", s.path+".corrupt", "error", errors.Join(cause, err))
}
