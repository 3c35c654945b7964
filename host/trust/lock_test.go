package trust

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someSHA256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func someLock() *Lock {
	return &Lock{Version: lockVersion, Plugins: map[string]Entry{
		"b": {SHA256: someSHA256, Files: 2, Env: []string{"NO", "PAGER_TOKEN"}, Contents: map[string]string{
			"z.py": "0000000000000000", "a \"b\"/é\t: [x].py": "1234567890123456", "null": "00000000000001e5",
		}},
		"a": {Env: []string{"TRUE"}},
	}}
}

func TestALockComesBack(t *testing.T) {
	l := someLock()
	l.Path = filepath.Join(t.TempDir(), LockName)
	if err := l.Write(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLock(l.Path)
	if diff := cmp.Diff(l, got, cmp.AllowUnexported(Lock{})); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if !bytes.Equal(l.text(), got.text()) || !strings.HasPrefix(string(l.text()), lockHeader) {
		t.Errorf("it is written otherwise:\n%s", got.text())
	}
	before, err := os.Stat(l.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Write(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(l.Path); err != nil || !os.SameFile(before, after) {
		t.Error("the same lock was written again")
	}
	left, err := os.ReadDir(filepath.Dir(l.Path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestALockThatIsNotThereIsEmpty(t *testing.T) {
	l, err := ReadLock(filepath.Join(t.TempDir(), LockName))
	if err != nil || len(l.Plugins) != 0 {
		t.Fatal(l, err)
	}
}

func TestLockRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ source, want string }{
		"empty":         {"", "version"},
		"later version": {"version: 2\n", "it knows 1"},
		"unknown key":   {"version: 1\nplugin: {}\n", "plugin"},
		"unknown deep":  {"version: 1\nplugins: {a: {sha: x}}\n", "sha"},
		"sum":           {"version: 1\nplugins: {a: {sha256: " + strings.ToUpper(someSHA256) + "}}\n", "64 hex"},
		"name":          {"version: 1\nplugins: {A: {}}\n", "not the name of a plugin"},
		"files":         {"version: 1\nplugins: {a: {files: -1}}\n", "negative"},
		"env":           {"version: 1\nplugins: {a: {env: [\"A=b\"]}}\n", "not the name of a variable"},
		"file outside":  {"version: 1\nplugins: {a: {contents: {../x: \"0123456789abcdef\"}}}\n", "not a file"},
		"broken":        {"version: [\n", "1:"},
	} {
		if _, err := parseLock([]byte(tt.source)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatChanged(t *testing.T) {
	files := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	many := map[string]string{}
	for i := range 12 {
		many["f"+strconv.Itoa(i)] = "1"
	}
	for want, pair := range map[string][2]map[string]string{
		"":                              {nil, files("a", "1")},
		"changed b; added c; removed a": {files("a", "1", "b", "1"), files("b", "2", "c", "1")},
		"no file, but the interpreter or its place":         {files("a", "1"), files("a", "1")},
		"added f0, f1, f10, f11, f2, f3, f4, f5 and 4 more": {files(), many},
	} {
		if got := WhatChanged(pair[0], pair[1]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestContents(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "x", 0o600)
	write("b/c", "x", 0o700)
	write(".git/config", "x", 0o600)
	write("b/__pycache__/c.pyc", "x", 0o600)
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	got := Contents(dir)
	if len(got) != 3 || got["a"] == got["b/c"] || got["link"] == "" {
		t.Errorf("contents: %v", got)
	}
	for i := range maxContents {
		write("many/"+strconv.Itoa(i), "", 0o600)
	}
	if got := Contents(dir); got != nil {
		t.Errorf("%d files are listed", len(got))
	}
}

// FuzzLock reads locks that nobody vouches for; what is read is written and read the same.
func FuzzLock(f *testing.F) {
	f.Add(someLock().text())
	f.Add([]byte("version: 1\nplugins: {a: {env: [A], sha256: x}}\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		l, err := parseLock(source)
		if err != nil {
			return
		}
		again, err := parseLock(l.text())
		if err != nil {
			t.Fatalf("%v\n%s", err, l.text())
		}
		if !bytes.Equal(again.text(), l.text()) {
			t.Fatalf("%s\nbecomes\n%s", l.text(), again.text())
		}
	})
}
