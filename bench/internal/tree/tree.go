package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Tree is a copy of a repository's tracked files, as they are in the work tree.
type Tree struct {
	// Dir is its folder.
	Dir string
}

// Copy copies the repository at root into a new folder, whose name begins with prefix.
func Copy(ctx context.Context, root, prefix string) (*Tree, error) {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	t := &Tree{dir}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			return nil, errors.Join(err, t.Remove())
		}
	}
	return t, nil
}

// Remove deletes the copy.
func (t *Tree) Remove() error { return os.RemoveAll(t.Dir) }

// copyFile copies a regular file or a link, and skips a tracked file that was deleted.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	content, err := os.ReadFile(from) //nolint:gosec // a file of the repository
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, content, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime()) // make compares these times
}

// Apply applies a patch with further arguments of git apply, such as --check or -R.
func (t *Tree) Apply(ctx context.Context, patch string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{"apply"}, args...), patch)...) //nolint:gosec // a patch of the repository
	cmd.Dir = t.Dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(t.Dir)) // the copy is not in a repository
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git apply %s: %s", strings.Join(args, " "), bytes.TrimSpace(out))
	}
	return nil
}
