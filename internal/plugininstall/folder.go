package plugininstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
)

// Limits on a plugin's folder: the same as the host's.
const (
	maxFiles = 50_000
	maxBytes = 1 << 30
)

// fromFolder copies a folder unchanged: its author has built it. Nothing in it runs.
func (p *Package) fromFolder(ctx context.Context, from string) error {
	from, err := pluginFolder(from)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(from, p.Folder); err != nil || filepath.IsLocal(rel) {
		return exit.Usagef("%s holds the state folder, too: give the plugin a folder of its own", from)
	}
	c := &copying{ctx: ctx, to: p.Folder}
	if err := c.folder(from); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return p.byManifest()
}

// pluginFolder is the folder itself, where path leads to one that is a plugin's.
func pluginFolder(path string) (string, error) {
	folder, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", exit.Usagef("there is no folder %s", path)
	case err != nil:
		return "", exit.Usage(err)
	}
	if _, err := os.Stat(filepath.Join(folder, trust.ManifestName)); err != nil {
		return "", exit.Usagef("%s is not a plugin's folder: it has no %s", folder, trust.ManifestName)
	}
	return folder, nil
}

// copying copies a folder.
type copying struct {
	ctx   context.Context
	from  *os.Root
	to    string
	files int
	bytes int64
}

func (c *copying) folder(from string) (err error) {
	if c.from, err = os.OpenRoot(from); err != nil {
		return err
	}
	defer func() { _ = c.from.Close() }()
	return fs.WalkDir(c.from.FS(), ".", c.visit)
}

func (c *copying) visit(name string, entry fs.DirEntry, err error) error {
	if err = errors.Join(err, c.ctx.Err()); err != nil {
		return err
	}
	if c.leftOut(name, entry) {
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if c.files++; c.files > maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	to := filepath.Join(c.to, name)
	switch entry.Type() {
	case fs.ModeDir:
		if name == "." {
			return nil
		}
		return os.Mkdir(to, 0o700)
	case fs.ModeSymlink: // the host checks whether it leads outside, as when the plugin starts
		target, err := c.from.Readlink(name)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case 0:
		return c.file(name, to)
	}
	return fmt.Errorf("%q is neither a file nor a folder", name)
}

// leftOut are, besides what never belongs to a plugin, files that tools keep at the top of a project:
// hidden files and folders except a virtual environment, and what cargo compiles.
func (c *copying) leftOut(name string, entry fs.DirEntry) bool {
	switch {
	case host.LeftOut(name, entry) || name == receiptName:
		return true
	case name == "." || strings.ContainsRune(name, '/'):
		return false
	case name == "target":
		_, err := c.from.Lstat("Cargo.toml")
		return err == nil
	}
	return strings.HasPrefix(name, ".") && name != ".venv"
}

func (c *copying) file(name, to string) error {
	from, err := c.from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%q is not a regular file", name)
	}
	return c.write(to, info.Mode()&0o100 != 0, from)
}

// write writes a new file, within the limits for the whole folder.
func (c *copying) write(to string, executable bool, from io.Reader) error {
	mode := fs.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(from, maxBytes-c.bytes+1))
	if c.bytes += n; err == nil && c.bytes > maxBytes {
		err = fmt.Errorf("it has more than %d bytes", int64(maxBytes))
	}
	return errors.Join(err, out.Close())
}
