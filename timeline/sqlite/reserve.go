package sqlite

import (
	"os"
	"path/filepath"
)

// A full disk has no space to delete in: what is deleted is written to the write-ahead log
// first. Not even a reader finds any, who has to make the log's index. So the folder has a
// file that is there to be made smaller then.

const (
	reserveSize = 1 << 20  // in bytes: enough to delete in, and to give pages back
	openingSize = 64 << 10 // of it, to open the store
)

func (s *store) reserveName() string { return filepath.Join(s.dir, "reserve") }

// keepReserve makes the file as large as it should be, or as the disk allows.
func (s *store) keepReserve() {
	f, err := os.OpenFile(s.reserveName(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_ = f.Chmod(0o600) // the umask may have taken more
	if info, err := f.Stat(); err == nil && info.Size() < reserveSize {
		_, _ = f.Write(make([]byte, reserveSize-info.Size())) // it may have space once something was deleted
	}
	_ = f.Close()
}

// useReserve gives so much of it to the disk, and reports whether it did.
func (s *store) useReserve(bytes int64) bool {
	info, err := os.Stat(s.reserveName())
	return err == nil && info.Size() > 0 && os.Truncate(s.reserveName(), max(0, info.Size()-bytes)) == nil
}
