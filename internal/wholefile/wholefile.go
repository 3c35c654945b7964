package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns the content of a file, or of a pipe such as a shell's <(…), of at most most
// bytes; a larger one is an error that names it.
func Read(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(content) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	return content, err
}

// Replace replaces a file's content and sets its mode, whatever the umask. It does not sync:
// a power cut may leave the file empty or as it was.
func Replace(path string, content []byte, mode fs.FileMode) error {
	return replace(path, content, mode, func(*os.File) error { return nil })
}

// ReplaceDurably is Replace for what must survive a power cut: afterwards the file has
// either the old content or the new.
func ReplaceDurably(path string, content []byte, mode fs.FileMode) error {
	return replace(path, content, mode, (*os.File).Sync)
}

func replace(path string, content []byte, mode fs.FileMode, settle func(*os.File) error) error {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	if err = errors.Join(err, next.Chmod(mode), settle(next), next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
