package sqlite

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFile shows other processes that this Store's process is alive: the kernel releases the lock
// when it ends.
type lockFile struct {
	id   string
	file *os.File
}

// newLock creates owners/<id>.lock. The file gets its name only once it is locked, so that nobody
// takes it for that of a dead process.
func newLock(dir string) (*lockFile, error) {
	id := rand.Text()
	f, err := os.CreateTemp(filepath.Join(dir, "owners"), "new-*")
	if err != nil {
		return nil, err
	}
	if err = f.Chmod(0o600); err == nil { // the umask may have removed more bits
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err == nil {
		err = os.Rename(f.Name(), lockName(dir, id))
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	return &lockFile{id: id, file: f}, nil
}

// release removes the file and releases the lock.
func (l *lockFile) release(dir string) error {
	return errors.Join(os.Remove(lockName(dir, l.id)), l.file.Close())
}

// alive reports whether a process holds the lock id; true if that cannot be found out.
func alive(dir, id string) bool {
	f, err := os.Open(lockName(dir, id))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }() // it was only read
	// A shared lock, so that two processes that ask at once do not take each other for the owner.
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// sweep removes the lock files of dead processes; a missing file means the same.
func sweep(dir string) {
	entries, err := os.ReadDir(filepath.Join(dir, "owners"))
	if err != nil {
		return
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".lock"); ok && !alive(dir, id) {
			_ = os.Remove(lockName(dir, id)) // this only tidies up
		}
	}
}

func lockName(dir, id string) string { return filepath.Join(dir, "owners", id+".lock") }
