package host

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"syscall"
)

const (
	maxLogFile = 1 << 20 // bytes, before it is rotated
	keptLogs   = 2       // beside the current one
)

// logFile is a file that several processes append lines to and that is rotated.
type logFile struct {
	path string
	mu   sync.Mutex
	file *os.File // nil until the first line
	over bool     // the host is closed: further lines are dropped
}

// Write appends one or more lines.
func (l *logFile) Write(lines []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return len(lines), nil
	}
	if err := l.makeRoom(); err != nil {
		return 0, err
	}
	return l.file.Write(lines)
}

// makeRoom reopens the file if necessary, since another process may have rotated it,
// and rotates it if it is full.
func (l *logFile) makeRoom() error {
	for range 2 {
		if err := l.reopen(); err != nil {
			return err
		}
		info, err := l.file.Stat()
		if err != nil || info.Size() < maxLogFile {
			return err
		}
		if err := l.rotate(); err != nil {
			return err
		}
	}
	return l.reopen()
}

func (l *logFile) reopen() error {
	if l.file != nil {
		ours, err := l.file.Stat()
		there, errThere := os.Lstat(l.path)
		if err == nil && errThere == nil && os.SameFile(ours, there) {
			return nil
		}
		_ = l.file.Close()
	}
	var err error
	l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	if info, err := l.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: %w", l.path, fs.ErrInvalid)
	}
	return nil
}

// rotate renames each file to the next number. A lock on the file lets only one process
// do it: the second finds a different file under the path.
func (l *logFile) rotate() error {
	fd := int(l.file.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
		return err
	}
	defer func() { _ = syscall.Flock(fd, syscall.LOCK_UN) }()
	ours, err := l.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(l.path); err != nil || !os.SameFile(ours, there) {
		return nil // another process has done it
	}
	for n := keptLogs; n > 0; n-- {
		from := l.path
		if n > 1 {
			from += "." + strconv.Itoa(n-1)
		}
		if err := os.Rename(from, l.path+"."+strconv.Itoa(n)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
