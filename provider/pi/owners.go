package pi

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

const (
	ownersDir     = "mulligan-owners" // in the private folder: a file for each engine that started a Pi there
	ownerVariable = "MULLIGAN_PI_OWNER"

	maxOwners = 200 // files that are read
)

// own writes a file in the folder that says that this process has an engine there. The file's name
// is also the mark of the engine's Pis and of everything that they start. The name is random:
// anything that identifies the machine is no business of what a model runs.
func (f folder) own() (mark string, err error) {
	note, err := procgroup.Note()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(f.path, ownersDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := rand.Text()
	return ownerMark(name), write(filepath.Join(dir, name), note)
}

// disown removes the file again: nothing that has the mark is left.
func (f folder) disown(mark string) {
	_ = os.Remove(filepath.Join(f.path, ownersDir, strings.TrimPrefix(mark, ownerMark("")))) // the next sweep does it
}

func ownerMark(name string) string { return ownerVariable + "=" + name }

// sweep ends what the Pis of killed processes have left behind: a Pi may leave the command that it
// was running. Nothing is touched that belongs to a process that is running, or to another machine
// or container.
func (f folder) sweep() {
	dir := filepath.Join(f.path, ownersDir)
	files, _ := os.ReadDir(dir) // there may be none yet
	for _, file := range files[:min(len(files), maxOwners)] {
		if strings.HasPrefix(file.Name(), ".") {
			continue // it is being written
		}
		path := filepath.Join(dir, file.Name())
		if life, err := procgroup.ReadNote(path); err == nil && life == procgroup.LifeGone && killAll(ownerMark(file.Name())) {
			_ = os.Remove(path) // or the next sweep does it
		}
	}
}

// killAll kills everything with the mark, for killTime at most, and reports whether nothing is
// left.
func killAll(mark string) bool {
	return procgroup.EndMarked(func(variable string) bool { return variable == mark }, killTime)
}
