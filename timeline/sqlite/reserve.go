package sqlite

import (
	"os"
	"path/filepath"
)

// On a full disk there is no space to delete in, because deletions are first written to the
// write-ahead log. Even a reader finds no space if it has to create the log's index. So the folder
// has a file that can be shrunk then.

const (
	reserveSize = 1 << 20  // bytes: enough to delete in, and to give pages back
	openingSize = 64 << 10 // bytes of it that are enough to open the store
)

func (s *store) reserveName() string { return filepath.Join(s.dir, "reserve") }

// keepReserve makes the file as large as it should be, or as the disk allows.
func (s *store) keepReserve() {
	f, err := os.OpenFile(s.reserveName(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_ = f.Chmod(0o600) // the umask may have removed more bits
	if info, err := f.Stat(); err == nil && info.Size() < reserveSize {
		_, _ = f.Write(make([]byte, reserveSize-info.Size())) // there may be space again after a deletion
	}
	_ = f.Close()
}

// useReserve shrinks the file by that many bytes, and reports whether it did.
func (s *store) useReserve(bytes int64) bool {
	info, err := os.Stat(s.reserveName())
	return err == nil && info.Size() > 0 && os.Truncate(s.reserveName(), max(0, info.Size()-bytes)) == nil
}
