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

	maxOwners = 200 // files that are looked at
)

// own notes in the folder that this process has an engine there, under a name that its Pis
// and all that they start have as their mark. The name is by chance: what would tell the
// machine is no business of what a model runs.
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

// disown takes the note back: nothing is left of what has the mark.
func (f folder) disown(mark string) {
	_ = os.Remove(filepath.Join(f.path, ownersDir, strings.TrimPrefix(mark, ownerMark("")))) // the next sweep does it
}

func ownerMark(name string) string { return ownerVariable + "=" + name }

// sweep ends what processes that were killed have left of their Pis: a Pi may leave the
// command that it was running. Where another process has an engine in the folder and runs,
// or is of another machine or container, nothing is touched.
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

// killAll kills what has the mark, for killTime at the most, and reports whether nothing is
// left.
func killAll(mark string) bool {
	return procgroup.EndMarked(func(variable string) bool { return variable == mark }, killTime)
}
