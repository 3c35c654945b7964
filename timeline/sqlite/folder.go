package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// prepare creates the folder and the database file with their permissions, whatever the umask is.
// SQLite gives its -wal and -shm the permissions of the database.
func prepare(dir string) (file string, err error) {
	file = filepath.Join(dir, "timeline.db")
	if err := prepareFolder(dir); err != nil {
		return file, err
	}
	if err := prepareFolder(filepath.Join(dir, "owners")); err != nil {
		return file, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return file, err
	}
	if err := f.Close(); err != nil {
		return file, err
	}
	for _, name := range []string{file, file + "-wal", file + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return file, nil
}

// prepareFolder creates dir with 0700 or, if it exists, makes sure that nobody else may write to
// it.
func prepareFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.Chmod(dir, 0o700)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write to %s (mode %04o): run chmod 700 on it, or choose another folder",
			dir, info.Mode().Perm())
	}
	return nil
}
