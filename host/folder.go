package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

const (
	// maxSocketPath is below what the narrowest system allows (104 bytes).
	maxSocketPath = 100
	// roomBelow is the length of what go-plugin appends:
	// /plugin-dirNNNNNNNNNN/pluginNNNNNNNNNN.
	roomBelow = 44

	folderPrefix   = "mulligan-"
	socketVariable = "PLUGIN_UNIX_SOCKET_DIR"

	ownerFile = "host"      // in each folder: the pid and start time of its process
	sweepAge  = time.Minute // a younger folder may not have its owner file yet
	sweepMost = 200         // folders examined in one place
)

// folders are a host's own, of mode 0700, created when first needed.
type folders struct {
	sockets func() (string, error)
	copies  func() (string, error) // of pinned plugins
	groups  func() string          // for control groups; "" = not available
	state   string                 // has a permanent folder for each plugin; "" = plugins have none
	values  valueServers

	mu   sync.Mutex
	made []string
}

func newFolders() *folders {
	f := &folders{groups: groupFolder}
	f.sockets = onceMade(func() (string, error) {
		return f.make("plugin sockets", socketParents(), func(dir string) bool { return len(dir)+roomBelow <= maxSocketPath })
	})
	f.copies = onceMade(func() (string, error) {
		return f.make("copies of pinned plugins", copyParents(), mayExecute)
	})
	return f
}

// onceMade caches the first result without an error.
func onceMade(makeIt func() (string, error)) func() (string, error) {
	var mu sync.Mutex
	var made string
	return func() (_ string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if made == "" {
			made, err = makeIt()
		}
		return made, err
	}
}

func socketParents() []string { return []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} }

func copyParents() []string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return []string{os.TempDir()}
	}
	return []string{os.TempDir(), cache}
}

// make creates a folder in the first parent where one that fits can be created.
func (f *folders) make(what string, parents []string, fits func(string) bool) (string, error) {
	err := errors.New("none of the places for temporary folders is suitable")
	for _, parent := range parents {
		if parent == "" {
			continue
		}
		dir, makeErr := os.MkdirTemp(parent, folderPrefix)
		if makeErr != nil {
			err = makeErr
			continue
		}
		if !fits(dir) {
			_ = os.Remove(dir)
			continue
		}
		if err := markFolder(dir); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
		f.mu.Lock()
		f.made = append(f.made, dir)
		f.mu.Unlock()
		return dir, nil
	}
	return "", fmt.Errorf("no folder for %s: %w", what, err)
}

// markFolder records which process a folder belongs to.
func markFolder(dir string) error {
	note, err := procgroup.Note()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ownerFile), note, 0o600)
}

// remove removes the folders that were created.
func (f *folders) remove() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, dir := range f.made {
		errs = append(errs, os.RemoveAll(dir))
	}
	f.made = nil
	return errors.Join(errs...)
}

// sweepOnce removes, once per process, what killed hosts have left behind.
var sweepOnce = sync.OnceFunc(func() {
	swept := map[string]bool{"": true}
	for _, parent := range append(socketParents(), copyParents()...) {
		if parent = filepath.Clean(parent); !swept[parent] {
			swept[parent] = true
			sweep(parent, time.Now())
		}
	}
	sweepGroups(groupFolder())
})

// sweep removes the folders in parent that belong to this user and whose host is gone.
// A folder without a note belongs to somebody else.
func sweep(parent string, now time.Time) {
	found, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*"))
	for _, dir := range found[:min(len(found), sweepMost)] {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !isOurs(info) || info.Mode().Perm() != 0o700 || now.Sub(info.ModTime()) < sweepAge {
			continue
		}
		if life, err := procgroup.ReadNote(filepath.Join(dir, ownerFile)); err == nil && life == procgroup.LifeGone {
			killMarked(dir)
			_ = os.RemoveAll(dir)
		}
	}
}

// markGrace is how long the system gets to end processes that have left their group.
const markGrace = 300 * time.Millisecond

// killMarked kills processes that have left their plugin's process group: those whose
// environment names a socket folder in or below dir. They may be multiplying, so it
// repeats for a while.
func killMarked(dir string) {
	isBelow := func(variable string) bool {
		at, ok := strings.CutPrefix(variable, socketVariable+"=")
		return ok && (at == dir || strings.HasPrefix(at, dir+"/"))
	}
	procgroup.EndMarked(isBelow, markGrace)
}
