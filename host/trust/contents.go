package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/terminal"
)

// maxContents is how many files of a plugin's folder a lock lists, in order to say
// later which of them changed.
const maxContents = 200

// Contents lists a folder's files, each with the beginning of its SHA-256. It is only
// for people: host.HashFolder decides whether a folder matches its pin. It is nil if
// there are too many files, or they cannot be read.
func Contents(folder string) map[string]string {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	list := map[string]string{}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case host.LeftOut(name, entry):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		case len(list) == maxContents:
			return fs.SkipAll
		}
		list[name], err = content(root, name, entry)
		return err
	})
	if err != nil || len(list) == maxContents {
		return nil
	}
	return list
}

func content(root *os.Root, name string, entry fs.DirEntry) (string, error) {
	sum := sha256.New()
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		target, _ := root.Readlink(name)
		_, _ = io.WriteString(sum, "link "+target)
		return hex.EncodeToString(sum.Sum(nil)[:8]), nil
	}
	if info.Mode()&0o100 != 0 {
		_, _ = io.WriteString(sum, "executable ")
	}
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// WhatChanged says which files differ, "" if unknown.
func WhatChanged(before, now map[string]string) string {
	if before == nil || now == nil {
		return ""
	}
	var said []string
	for _, group := range []struct {
		word string
		is   func(name string) bool
	}{
		{"changed", func(name string) bool { return before[name] != "" && now[name] != "" && before[name] != now[name] }},
		{"added", func(name string) bool { return before[name] == "" }},
		{"removed", func(name string) bool { return now[name] == "" }},
	} {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(union(before, now))) {
			if group.is(name) {
				names = append(names, terminal.OneLine(name))
			}
		}
		if len(names) > 0 {
			said = append(said, group.word+" "+someOf(names))
		}
	}
	if len(said) == 0 {
		return "no file, but the interpreter or its place"
	}
	return strings.Join(said, "; ")
}

func union(x, y map[string]string) map[string]string {
	both := maps.Clone(x)
	maps.Copy(both, y)
	return both
}

// someOf lists a few of the names.
func someOf(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
}
