package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links a path may go through.
const maxLinks = 40

// trustedGroups may write where programs are installed: root or wheel, staff for
// Debian's /usr/local, admin on macOS.
var trustedGroups = map[uint32]bool{0: true, 50: true, 80: true}

// checkOwners refuses a program that another user could replace. The file, every folder
// on its path and the folders of every symbolic link must belong to this user or to
// root, and nobody else may be able to write there. A sticky folder such as /tmp is
// fine: everyone may write to it, but nobody can remove another user's files.
func checkOwners(path string) error {
	rest := strings.Split(strings.TrimPrefix(filepath.Clean(path), "/"), "/")
	at, links := "/", 0
	if err := checkOwner(at); err != nil {
		return err
	}
	for len(rest) > 0 {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if err := checkOwner(next); err != nil {
				return err
			}
			at = next
			continue
		}
		if links++; links > maxLinks {
			return fmt.Errorf("%s leads through too many symbolic links", path)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(strings.Trim(filepath.Clean(target), "/"), "/"), rest...)
	}
	return nil
}

// ownerError says how another user could replace something.
type ownerError string

func ownerErrorf(format string, args ...any) error { return ownerError(fmt.Sprintf(format, args...)) }

func (e ownerError) Error() string { return string(e) }

func checkOwner(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("the system does not tell who owns a file")
	}
	own := uint32(os.Geteuid())
	foreign := stat.Uid != own && stat.Uid != 0 && stat.Uid != overflowOwner()
	mode := info.Mode()
	sticky := info.IsDir() && mode&fs.ModeSticky != 0
	groupOfOne := stat.Gid == stat.Uid // by convention, a group that only this user is in
	switch {
	case foreign:
		return ownerErrorf("%s belongs to user %d, who could replace the plugin", path, stat.Uid)
	case mode.Perm()&0o002 != 0 && !sticky:
		return ownerErrorf("everyone may write to %s (mode %04o) and so replace the plugin", path, mode.Perm())
	case mode.Perm()&0o020 != 0 && !sticky && !groupOfOne && !trustedGroups[stat.Gid]:
		return ownerErrorf("the group %d may write to %s (mode %04o) and so replace the plugin", stat.Gid, path, mode.Perm())
	}
	return nil
}
