package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Place is where plugins are made. Both paths are absolute.
type Place struct {
	Root      string // the top of the repository
	Dir       string // empty at first, for what is made anew each time
	Optimized bool   // as for a release, where a compiler makes a difference
}

// Path is a path of the repository.
func (p Place) Path(name string) string { return filepath.Join(p.Root, name) }

// Once makes a folder below parent out of copies of the sources, which are paths of
// the repository, unless there is one that was made of the same.
func (p Place) Once(ctx context.Context, parent string, sources []string, build func(dir string) error) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	half, err := os.MkdirTemp(parent, "half-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(half) }()
	for _, source := range sources {
		if err := p.Run(ctx, "cp", "-R", p.Path(source), half); err != nil {
			return "", err
		}
	}
	name, err := digest(half)
	if err != nil {
		return "", err
	}
	whole := filepath.Join(parent, name)
	if _, err := os.Stat(whole); err == nil {
		return whole, nil
	}
	if err := build(half); err != nil {
		return "", err
	}
	if err := os.Rename(half, whole); err != nil && !os.IsExist(err) { // another process may have been faster
		return "", err
	}
	return whole, nil
}

// digest names a folder after its content.
func digest(dir string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(hash, "%s %d\n%s", strings.TrimPrefix(name, dir), len(content), content)
		return err
	})
	return hex.EncodeToString(hash.Sum(nil))[:16], err
}

// Look looks at every source: the go command repeats a test's cached result unless
// something that the test's own process looked at has changed.
func (p Place) Look(sources []string) error {
	for _, source := range sources {
		err := filepath.WalkDir(p.Path(source), func(name string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(name)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Run runs a step at the top of the repository; an error holds what it has said.
func (p Place) Run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = p.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return nil
}
