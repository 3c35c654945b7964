package wholefile_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("ten"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		if err := os.WriteFile(at("pipe"), []byte("through"), 0); err != nil {
			t.Error(err)
		}
	})
	if got, err := wholefile.Read(at("pipe"), 10); err != nil || string(got) != "through" {
		t.Errorf("a pipe: %q, %v", got, err)
	}
	writer.Wait()
	if got, err := wholefile.Read(at("ten"), 10); err != nil || string(got) != "0123456789" {
		t.Errorf("%q, %v", got, err)
	}
	for path, want := range map[string]string{"ten": "ten is larger than 9 bytes", ".": "is a directory", "none": "no such file"} {
		if _, err := wholefile.Read(at(path), 9); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", path, err, want)
		}
	}
}

// TestReplace: readers see the whole old or the whole new content, and no other file is left.
func TestReplace(t *testing.T) {
	for name, replace := range map[string]func(string, []byte, fs.FileMode) error{"Replace": wholefile.Replace, "ReplaceDurably": wholefile.ReplaceDurably} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			contents := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<17)}
			if err := replace(path, contents[0], 0o640); err != nil {
				t.Fatal(err)
			}
			var writer sync.WaitGroup
			writer.Go(func() {
				for i := range 50 {
					if err := replace(path, contents[i%2], 0o640); err != nil {
						t.Error(err)
					}
				}
			})
			for range 200 {
				got, err := wholefile.Read(path, 1<<20)
				if err != nil || !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
			writer.Wait()
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
				t.Errorf("%v, %v", info, err)
			}
			if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
				t.Errorf("%v, %v", files, err)
			}
		})
	}
}

// TestReplaceFails: the old content stays, and no other file is left.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := wholefile.Replace(path, nil, 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
