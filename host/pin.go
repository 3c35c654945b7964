package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// What a plugin's folder may hold at most.
const (
	maxFolderFiles = 50_000
	maxFolderBytes = 1 << 30
)

// LeftOut reports whether a file or folder, by its path within a plugin's folder, is
// neither hashed nor copied, and so never runs. These are files that change by themselves,
// the file that holds the pin, and the link to a checkout of Mulligan from which the
// plugin's SDK was installed.
func LeftOut(name string, entry fs.DirEntry) bool {
	switch entry.Name() {
	case ".git", "__pycache__":
		return true
	}
	return name == "mulligan.lock" && entry.Type().IsRegular() || name == ".mulligan" && entry.Type() == fs.ModeSymlink
}

// PinError says that a plugin's folder is not what it was pinned to.
type PinError struct {
	Expected string // the pin
	Actual   string
	Folder   string
}

func (e *PinError) Error() string {
	return fmt.Sprintf("the plugin's folder %s is not what was pinned: its SHA-256 is %s, the pin is %s",
		printable(e.Folder, saidBytes), e.Actual, printable(e.Expected, 2*sha256.Size))
}

// HashFolder returns the SHA-256 of a plugin's whole folder, in hex, and the number of
// its files. The hash covers the sorted relative paths, which files are executable,
// their contents, symbolic links, and the path of an interpreter outside the folder.
// Files for which LeftOut is true do not count. These are errors: a symbolic link that
// leads out of the folder, unless it leads to the interpreter; anything that is not a
// file, folder or link; and more than 50 000 files or 1 GiB.
//
// The folder is spec.Folder. If that is empty, it is the folder of the executable. If
// the executable is an interpreter (python, node, …), it depends on the first argument
// that is a file: the nearest folder above it that has a package.json, pyproject.toml or
// the like, or else the file's own folder.
func HashFolder(spec Spec) (sum string, files int, err error) {
	if err := checkSpec(spec); err != nil {
		return "", 0, err
	}
	program, folder, err := home(spec)
	if err != nil {
		return "", 0, err
	}
	w := &folderWalk{ctx: context.Background(), program: program, folder: folder}
	sum, err = w.walk()
	return sum, w.files, err
}

// folderWalk hashes a folder and, in the same pass, copies what it hashes.
type folderWalk struct {
	ctx     context.Context
	program string // the executable
	folder  string
	to      string // where the copy goes; "" = no copy

	root  *os.Root
	sum   hash.Hash
	files int
	bytes int64
}

func (w *folderWalk) walk() (sum string, err error) {
	w.root, err = os.OpenRoot(w.folder)
	if err != nil {
		return "", err
	}
	defer func() { _ = w.root.Close() }()
	w.sum = sha256.New()
	if resolved, err := filepath.EvalSymlinks(w.program); err == nil && !within(w.folder, resolved) {
		fmt.Fprintf(w.sum, "interpreter %q\n", resolved)
	}
	err = fs.WalkDir(w.root.FS(), ".", w.visit) // in lexical order
	return hex.EncodeToString(w.sum.Sum(nil)), err
}

func (w *folderWalk) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	if LeftOut(name, entry) {
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if w.files++; w.files > maxFolderFiles {
		return fmt.Errorf("the plugin's folder %s has more than %d files: give it a folder of its own", w.folder, maxFolderFiles)
	}
	switch entry.Type() {
	case fs.ModeDir:
		w.files--
		return w.directory(name)
	case fs.ModeSymlink:
		return w.link(name)
	case 0:
		return w.file(name)
	}
	return fmt.Errorf("%s in the plugin's folder is neither a file nor a folder", quote(name))
}

func (w *folderWalk) directory(name string) error {
	if w.to == "" || name == "." {
		return nil
	}
	return os.Mkdir(filepath.Join(w.to, name), 0o700)
}

func (w *folderWalk) link(name string) error {
	target, err := w.root.Readlink(name)
	if err != nil {
		return err
	}
	inside := !filepath.IsAbs(target) && filepath.IsLocal(path.Join(path.Dir(name), target))
	if inside {
		_, err := w.root.Stat(name)
		inside = err == nil || errors.Is(err, fs.ErrNotExist)
	}
	if !inside && !w.isProgram(name) {
		return fmt.Errorf("the symbolic link %s leads out of the plugin's folder", quote(name))
	}
	fmt.Fprintf(w.sum, "link %q %q\n", name, target)
	if w.to == "" {
		return nil
	}
	return os.Symlink(target, filepath.Join(w.to, name))
}

// isProgram reports whether a link leads to the executable, as in a Python virtual
// environment.
func (w *folderWalk) isProgram(name string) bool {
	leads, err := filepath.EvalSymlinks(filepath.Join(w.folder, name))
	if err != nil {
		return false
	}
	program, err := filepath.EvalSymlinks(w.program)
	return err == nil && leads == program
}

func (w *folderWalk) file(name string) error {
	from, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return fmt.Errorf("%s in the plugin's folder is not a regular file", quote(name))
	}
	mode := fs.FileMode(0o400)
	if info.Mode()&0o100 != 0 {
		mode = 0o500
	}
	content := sha256.New()
	if err := w.copy(name, mode, content, from); err != nil {
		return err
	}
	fmt.Fprintf(w.sum, "file %q %o %x\n", name, mode, content.Sum(nil))
	return nil
}

// copy reads each file once, so that what is copied is what was hashed.
func (w *folderWalk) copy(name string, mode fs.FileMode, content hash.Hash, from io.Reader) error {
	if w.to == "" {
		return w.read(content, from)
	}
	out, err := os.OpenFile(filepath.Join(w.to, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = w.read(io.MultiWriter(content, out), from)
	return errors.Join(err, out.Close())
}

func (w *folderWalk) read(to io.Writer, from io.Reader) error {
	n, err := io.Copy(to, io.LimitReader(from, maxFolderBytes-w.bytes+1))
	if w.bytes += n; w.bytes > maxFolderBytes {
		return fmt.Errorf("the plugin's folder %s has more than %d bytes", w.folder, int64(maxFolderBytes))
	}
	return err
}

// preparePinned copies the plugin into a new folder and, if the copy matches the pin,
// runs it from there.
func (l *launch) preparePinned(ctx context.Context) error {
	program, folder, err := home(l.spec)
	if err != nil {
		return err
	}
	copies, err := l.folders.copies()
	if err != nil {
		return err
	}
	l.copy, err = os.MkdirTemp(copies, "copy-")
	if err != nil {
		return err
	}
	w := &folderWalk{ctx: ctx, program: program, folder: folder, to: l.copy}
	l.hash, err = w.walk()
	if err != nil {
		return err
	}
	if !strings.EqualFold(l.hash, l.spec.Pin) {
		return &PinError{Expected: l.spec.Pin, Actual: l.hash, Folder: folder}
	}
	return l.moveInto(folder, program)
}

// moveInto replaces paths in folder that the command names with the same paths in the
// copy.
func (l *launch) moveInto(folder, program string) error {
	moved := func(p string) (string, bool) {
		rel, err := filepath.Rel(folder, p)
		if err != nil || !filepath.IsLocal(rel) {
			return p, false
		}
		return filepath.Join(l.copy, rel), true
	}
	var inCopy, dirMoved bool
	l.path, inCopy = moved(program)
	if l.dir = l.spec.Dir; l.dir != "" {
		dir, err := filepath.Abs(l.dir)
		if err != nil {
			return err
		}
		l.dir, dirMoved = moved(dir)
	}
	for _, argument := range l.spec.Command[1:] {
		at, err := absolute(argument, l.spec.Dir)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(at); err == nil {
			if to, ok := moved(at); ok {
				inCopy = true
				if filepath.IsAbs(argument) || !dirMoved {
					argument = to
				}
			}
		}
		l.args = append(l.args, argument)
	}
	if !inCopy && !dirMoved {
		return fmt.Errorf("nothing that the command names is in the plugin's folder %s", folder)
	}
	return nil
}
