package plugininstall

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mulligan-run/mulligan/host/trust"
)

// Limits on the names in an archive.
const (
	maxName  = 1024 // bytes
	maxDepth = 32   // folders
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zipMagic  = []byte("PK\x03\x04")
	zipEntry  = []byte("PK\x01\x02") // of the directory at a zip file's end
)

// unpack unpacks a .tar.gz or .zip, whatever its name, into an empty folder. If everything in it is in
// one folder, that becomes the plugin's folder.
func unpack(ctx context.Context, archive *os.File, to string, most bounds) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	u := &unpacking{ctx: ctx, root: root, most: most, made: map[string]bool{".": true}}
	head := make([]byte, len(zipMagic))
	if _, err := archive.ReadAt(head, 0); err != nil {
		return errors.New("it is not an archive")
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		err = u.tar(io.NewSectionReader(archive, 0, maxArchive))
	case bytes.Equal(head, zipMagic):
		err = u.zip(archive)
	default:
		err = errors.New("it is neither a .tar.gz nor a .zip")
	}
	if err != nil {
		return err
	}
	return lift(root)
}

// bounds limit what is unpacked in total.
type bounds struct {
	files int // and folders
	bytes int64
}

// unpacking writes files from an archive that somebody else made. root keeps every path
// below itself.
type unpacking struct {
	ctx   context.Context
	root  *os.Root
	most  bounds
	made  map[string]bool // folders
	files int
	bytes int64
}

func (u *unpacking) tar(from io.Reader) error {
	unzipped, err := gzip.NewReader(bufio.NewReader(from))
	if err != nil {
		return err
	}
	entries := tar.NewReader(unzipped)
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch entry.Typeflag {
		case tar.TypeDir:
			err = u.folder(entry.Name)
		case tar.TypeReg:
			err = u.file(entry.Name, entry.Mode&0o100 != 0, entries)
		case tar.TypeSymlink:
			err = u.link(entry.Name, entry.Linkname)
		case tar.TypeXGlobalHeader: // git archive writes one
		default:
			err = fmt.Errorf("%.100q is neither a file nor a folder", entry.Name)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacking) zip(archive *os.File) error {
	info, err := archive.Stat()
	if err != nil {
		return err
	}
	// The directory is read at once, however long it is.
	if n, err := count(io.NewSectionReader(archive, 0, info.Size()), zipEntry); err != nil || n > u.most.files {
		return errors.Join(err, fmt.Errorf("it has more than %d entries", u.most.files))
	}
	entries, err := zip.NewReader(archive, info.Size())
	if err != nil {
		return err
	}
	for _, entry := range entries.File {
		if err := u.zipEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) zipEntry(entry *zip.File) error {
	mode := entry.Mode()
	if mode.IsDir() {
		return u.folder(entry.Name)
	}
	content, err := entry.Open()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	switch mode.Type() {
	case 0:
		return u.file(entry.Name, mode&0o100 != 0, content)
	case fs.ModeSymlink:
		target, err := io.ReadAll(io.LimitReader(content, maxName+1))
		if err != nil {
			return err
		}
		return u.link(entry.Name, string(target))
	}
	return fmt.Errorf("%.100q is neither a file nor a folder", entry.Name)
}

// count counts how often a word occurs in what is read.
func count(from io.Reader, word []byte) (n int, err error) {
	buffer, kept := make([]byte, 64<<10), 0
	for {
		read, err := from.Read(buffer[kept:])
		n += bytes.Count(buffer[:kept+read], word)
		kept = copy(buffer, buffer[max(0, kept+read-len(word)+1):kept+read])
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// place is an entry's path; its folder is created.
func (u *unpacking) place(name string) (string, error) {
	if err := u.ctx.Err(); err != nil {
		return "", context.Cause(u.ctx)
	}
	if u.files++; u.files > u.most.files {
		return "", fmt.Errorf("it has more than %d files", u.most.files)
	}
	clean := path.Clean(name)
	if len(name) > maxName || strings.ContainsAny(name, "\\\x00") || !filepath.IsLocal(clean) || strings.Count(clean, "/") > maxDepth {
		return "", fmt.Errorf("%.100q is not a path in a plugin's folder", name)
	}
	return clean, nil
}

func (u *unpacking) folder(name string) error {
	name, err := u.place(name)
	if err != nil {
		return err
	}
	return u.mkdir(name)
}

func (u *unpacking) mkdir(name string) error {
	if u.made[name] {
		return nil
	}
	if err := u.mkdir(path.Dir(name)); err != nil {
		return err
	}
	u.made[name] = true
	if u.files++; u.files > u.most.files {
		return fmt.Errorf("it has more than %d files", u.most.files)
	}
	return u.root.Mkdir(name, 0o700)
}

func (u *unpacking) file(name string, executable bool, content io.Reader) error {
	name, err := u.place(name)
	if err != nil {
		return err
	}
	if err := u.mkdir(path.Dir(name)); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	out, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(content, u.most.bytes-u.bytes+1))
	if u.bytes += n; err == nil && u.bytes > u.most.bytes {
		err = fmt.Errorf("it has more than %d bytes", u.most.bytes)
	}
	return errors.Join(err, out.Close())
}

func (u *unpacking) link(name, target string) error {
	name, err := u.place(name)
	if err != nil {
		return err
	}
	if err := checkLink(name, target); err != nil {
		return err
	}
	if err := u.mkdir(path.Dir(name)); err != nil {
		return err
	}
	return u.root.Symlink(target, name)
}

func checkLink(name, target string) error {
	if len(target) > maxName || path.IsAbs(target) || !filepath.IsLocal(path.Join(path.Dir(name), target)) {
		return fmt.Errorf("the symbolic link %.100q leads out of the plugin's folder", name)
	}
	return nil
}

// lift moves the content of the only folder up, unless there is a manifest beside it.
func lift(root *os.Root) error {
	top, err := fs.ReadDir(root.FS(), ".")
	if err != nil || len(top) != 1 || !top[0].IsDir() || top[0].Name() == trust.ManifestName {
		return err
	}
	const aside = ".unpacked" // its content may contain the same name
	if err := root.Rename(top[0].Name(), aside); err != nil {
		return err
	}
	inner, err := fs.ReadDir(root.FS(), aside)
	if err != nil {
		return err
	}
	for _, entry := range inner {
		if err := root.Rename(aside+"/"+entry.Name(), entry.Name()); err != nil {
			return err
		}
	}
	if err := root.Remove(aside); err != nil {
		return err
	}
	return checkLinks(root)
}

// checkLinks refuses links that lead out of a folder whose content came from a deeper one.
func checkLinks(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type() != fs.ModeSymlink {
			return err
		}
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		return checkLink(name, target)
	})
}
