package devtools

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mulligan-run/mulligan/host"
)

// devPoll is how often a folder is checked. A change must be stable for as long before
// it counts, so that a build is not caught in the middle.
const devPoll = 300 * time.Millisecond

// folderWatch knows what a plugin's folder held when it was last looked at.
type folderWatch struct {
	spec   host.Spec
	folder string
	sum    string // of its content
	seen   [sha256.Size]byte
}

func newFolderWatch(spec host.Spec, folder string) *folderWatch {
	w := &folderWatch{spec: spec, folder: folder}
	w.sum, _, _ = host.HashFolder(spec)
	w.seen = outline(folder)
	return w
}

// run calls changed when the content of the folder has, until ctx ends.
func (w *folderWatch) run(ctx context.Context, changed func()) {
	for pending := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(devPoll):
		}
		now := outline(w.folder)
		if now != w.seen {
			w.seen, pending = now, true
			continue
		}
		if !pending {
			continue
		}
		pending = false
		fresh, _, err := host.HashFolder(w.spec)
		if err != nil || fresh != w.sum { // a folder that cannot be hashed may have changed
			w.sum = fresh
			changed()
		}
	}
}

// outline sums up names, sizes and times: enough to know when to read.
func outline(folder string) [sha256.Size]byte {
	sum := sha256.New()
	_ = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if entry == nil {
			return err // there is no folder
		}
		if name := entry.Name(); name == ".git" || name == "__pycache__" {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			fmt.Fprintf(sum, "%q %d %d %o\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return nil
	})
	return [sha256.Size]byte(sum.Sum(nil))
}
