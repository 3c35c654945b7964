package keystore_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/keystore"
)

const (
	name = "SOME_API_KEY"
	key  = "sk-canary-0123456789abcdef"
)

func path(dir string) string { return filepath.Join(dir, "keys.json") }

// TestStore: a stored key can be read by whoever opens the folder, in a file that only its owner
// can read, until the key is removed.
func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	one, other := keystore.Open(dir, nil), keystore.Open(dir, nil)
	if got := one.Get(name); got != "" || one.Check() != nil || one.Remove(name) != nil {
		t.Fatalf("of nothing: %q, %v", got, one.Check())
	}
	for _, k := range []string{key, key + "2", strings.Repeat("k", keystore.MaxKey)} {
		if err := one.Set(name, k); err != nil {
			t.Fatal(err)
		}
		if one.Get(name) != k || other.Get(name) != k {
			t.Errorf("what was kept is not there for both: %d bytes", len(k))
		}
	}
	if err := other.Set("_OTHER", key); err != nil || !slices.Equal(one.Names(), []string{name, "_OTHER"}) {
		t.Errorf("%v, %v", one.Names(), err)
	}
	for at, want := range map[string]os.FileMode{path(dir): 0o600, path(dir) + ".lock": 0o600, dir: os.ModeDir | 0o700} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", at, info.Mode(), err)
		}
	}
	if err := other.Remove(name); err != nil || one.Get(name) != "" || one.Get("_OTHER") != key {
		t.Errorf("after it was removed: %v, %v", one.Names(), err)
	}
	if data, err := os.ReadFile(path(dir)); err != nil || strings.Contains(string(data), "kkkk") {
		t.Errorf("what was removed is still in the file, or %v", err)
	}
}

// TestSomebodyElseWrites: keys can be read while another process has the file locked, and a key is
// written once the lock is released.
func TestSomebodyElseWrites(t *testing.T) {
	dir := t.TempDir()
	s := keystore.Open(dir, nil)
	if err := s.Set(name, key); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path(dir)+".lock", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	kept := make(chan error, 1)
	go func() { kept <- s.Set(name, key+"2") }()
	time.Sleep(100 * time.Millisecond) // so that the write most likely waits
	if got := s.Get(name); got != key {
		t.Errorf("read is %q", got)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := <-kept; err != nil || s.Get(name) != key+"2" {
		t.Errorf("kept is %q, %v", s.Get(name), err)
	}
}

// TestWhatIsNoKey: a key that cannot be sent in a header is refused, and no error repeats it.
func TestWhatIsNoKey(t *testing.T) {
	s := keystore.Open(t.TempDir(), nil)
	for _, bad := range []string{"", "short", key + " ", "two\nlines-of-a-key", "käse-is-no-key-at-all", strings.Repeat("k", keystore.MaxKey+1)} {
		if err := s.Set(name, bad); err == nil || len(bad) > 5 && strings.Contains(err.Error(), bad) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "1A", "A B", "A=B", strings.Repeat("A", 129)} {
		if err := s.Set(bad, key); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
	for i := range 65 {
		if err := s.Set(fmt.Sprintf("KEY_%d", i), key); (err != nil) != (i == 64) {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	if len(s.Names()) != 64 {
		t.Errorf("%d keys", len(s.Names()))
	}
}

// TestAFileThatIsNotUsed: an unsafe or broken file gives no key, the error says why and what to do,
// and the file is left unchanged until it is removed.
func TestAFileThatIsNotUsed(t *testing.T) {
	good := `{"version":1,"keys":{"` + name + `":"` + key + `"}}`
	write := func(text string, mode os.FileMode) func(string) error {
		return func(at string) error {
			if err := os.WriteFile(at, []byte(text), mode); err != nil {
				return err
			}
			return os.Chmod(at, mode)
		}
	}
	for what, c := range map[string]struct {
		make func(at string) error
		want string
	}{
		"others may read it": {write(good, 0o640), "others may read"},
		"half of it":         {write(good[:40], 0o600), "damaged"},
		"empty":              {write("", 0o600), "damaged"},
		"twice":              {write(good+good, 0o600), "damaged"},
		"newer":              {write(`{"version":2,"keys":{}}`, 0o600), "newer"},
		"no key":             {write(`{"version":1,"keys":{"A":"a b"}}`, 0o600), "damaged"},
		"no name":            {write(`{"version":1,"keys":{"A B":"`+key+`"}}`, 0o600), "damaged"},
		"huge":               {write(`{"version":1,"keys":{}}`+strings.Repeat(" ", 1<<20), 0o600), "damaged"},
		"a folder":           {func(at string) error { return os.Mkdir(at, 0o700) }, "not a regular file"},
		"a pipe":             {func(at string) error { return syscall.Mkfifo(at, 0o600) }, "not a regular file"},
		"a link": {func(at string) error {
			if err := write(good, 0o600)(at + ".real"); err != nil {
				return err
			}
			return os.Symlink(at+".real", at)
		}, "symbolic link"},
		"a link to nowhere": {func(at string) error { return os.Symlink(at+".none", at) }, "symbolic link"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.make(path(dir)); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path(dir))
			s := keystore.Open(dir, nil)
			errs := []error{s.Set(name, key+"new"), s.Remove(name), s.Check()}
			for _, err := range errs {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) {
					t.Errorf("%v", err)
				}
			}
			if got := s.Get(name); got != "" || len(s.Names()) > 0 {
				t.Errorf("it gives %q", got)
			}
			if after, err := os.Lstat(path(dir)); err != nil || !os.SameFile(before, after) {
				t.Errorf("it was replaced, or %v", err)
			}
			if err := os.Remove(path(dir)); err != nil {
				t.Fatal(err)
			}
			if err := s.Set(name, key); err != nil || s.Get(name) != key {
				t.Errorf("once it is gone: %v", err)
			}
		})
	}
}

// TestALockThatIsALink: a lock that is a symbolic link creates or opens no file elsewhere.
func TestALockThatIsALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path(dir)+".lock"); err != nil {
		t.Fatal(err)
	}
	if err := keystore.Open(dir, nil).Set(name, key); err == nil {
		t.Error("a key was kept")
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// TestTwoProcesses: of keys that several processes store at the same time none is lost.
func TestTwoProcesses(t *testing.T) {
	const each = 15
	if dir := os.Getenv("KEYSTORE_OF"); dir != "" {
		for i := range each {
			if err := keystore.Open(dir, nil).Set(fmt.Sprintf("%s_%d", os.Getenv("KEYSTORE_NAME"), i), key); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var all sync.WaitGroup
	for _, process := range []string{"A", "B", "C"} {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestTwoProcesses$")
			cmd.Env = append(os.Environ(), "KEYSTORE_OF="+dir, "KEYSTORE_NAME="+process)
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
	all.Wait()
	if got := len(keystore.Open(dir, nil).Names()); got != 3*each {
		t.Errorf("%d keys of %d", got, 3*each)
	}
}

// FuzzFile: whatever the file contains, reading it ends, and returns only keys that could have been
// stored.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"keys":{"A":"` + key + `"}}`))
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte("[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(path(dir), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := keystore.Open(dir, nil)
		for _, n := range s.Names() {
			if err := keystore.CheckKey(s.Get(n)); err != nil {
				t.Error(err)
			}
		}
		if s.Check() != nil && len(s.Names()) > 0 {
			t.Error("it gives keys and is not used")
		}
	})
}
