package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// write makes files out of what the map says, by their relative paths; a path that ends
// in * may be executed.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name, executable := strings.CutSuffix(name, "*")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if executable {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

func hashOf(t testing.TB, spec Spec) string {
	t.Helper()
	sum, _, err := HashFolder(spec)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestHashFolderSeesEveryChange(t *testing.T) {
	files := map[string]string{"main*": "#!/bin/sh\n", "lib/a.py": "a", "lib/b.py": "b", "uv.lock": "1"}
	base := func() (string, Spec) {
		dir := t.TempDir()
		write(t, dir, files)
		return dir, Spec{Name: "p", Command: []string{filepath.Join(dir, "main")}}
	}
	_, spec := base()
	want := hashOf(t, spec)
	for name, change := range map[string]func(dir string) error{
		"a byte":            func(d string) error { return os.WriteFile(filepath.Join(d, "lib/a.py"), []byte("A"), 0o644) },
		"the lock file":     func(d string) error { return os.WriteFile(filepath.Join(d, "uv.lock"), []byte("2"), 0o644) },
		"a new file":        func(d string) error { return os.WriteFile(filepath.Join(d, "lib/c.py"), nil, 0o644) },
		"one file less":     func(d string) error { return os.Remove(filepath.Join(d, "lib/b.py")) },
		"another name":      func(d string) error { return os.Rename(filepath.Join(d, "lib/b.py"), filepath.Join(d, "lib/d.py")) },
		"may be executed":   func(d string) error { return os.Chmod(filepath.Join(d, "lib/b.py"), 0o755) },
		"a link":            func(d string) error { return os.Symlink("a.py", filepath.Join(d, "lib/l.py")) },
		"nothing":           func(string) error { return nil },
		"a file's time":     func(d string) error { return os.Chtimes(filepath.Join(d, "uv.lock"), time.Unix(1, 0), time.Unix(1, 0)) },
		"who may read":      func(d string) error { return os.Chmod(filepath.Join(d, "lib/b.py"), 0o640) },
		"Python's own":      func(d string) error { write(t, d, map[string]string{"lib/__pycache__/a.pyc": "x"}); return nil },
		"what git keeps":    func(d string) error { write(t, d, map[string]string{".git/HEAD": "x"}); return nil },
		"its own lock":      func(d string) error { write(t, d, map[string]string{"mulligan.lock": "x"}); return nil },
		"another's lock":    func(d string) error { write(t, d, map[string]string{"lib/mulligan.lock": "x"}); return nil },
		"the checkout":      func(d string) error { return os.Symlink("/usr", filepath.Join(d, ".mulligan")) },
		"no link":           func(d string) error { write(t, d, map[string]string{".mulligan/a.py": "x"}); return nil },
		"a swap of content": func(d string) error { write(t, d, map[string]string{"lib/a.py": "b", "lib/b.py": "a"}); return nil },
	} {
		dir, spec := base()
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		same := slices.Contains([]string{
			"nothing", "a file's time", "who may read", "Python's own", "what git keeps", "its own lock", "the checkout",
		}, name)
		if got := hashOf(t, spec); (got == want) != same {
			t.Errorf("%s: the same hash: %v", name, got == want)
		}
	}
}

func TestHashFolderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"a link out": {func(d string) error { return os.Symlink("/etc/passwd", filepath.Join(d, "l")) }, "leads out"},
		"a link up":  {func(d string) error { return os.Symlink("../..", filepath.Join(d, "l")) }, "leads out"},
		"a link through links": {func(d string) error {
			_ = os.Symlink("..", filepath.Join(d, "up"))
			return os.Symlink("up/..", filepath.Join(d, "l"))
		}, "leads out"},
		"a pipe":              {func(d string) error { return syscall.Mkfifo(filepath.Join(d, "pipe"), 0o600) }, "neither a file nor a folder"},
		"a setuid file":       {func(d string) error { return os.Chmod(filepath.Join(d, "main"), 0o755|os.ModeSetuid) }, "not a regular file"},
		"a program elsewhere": {func(d string) error { return os.Mkdir(filepath.Join(d, "below"), 0o755) }, "not in the plugin's folder"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"main*": ""})
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			spec := Spec{Name: "p", Command: []string{filepath.Join(dir, "main")}}
			if name == "a program elsewhere" {
				spec.Folder = filepath.Join(dir, "below")
			}
			if _, _, err := HashFolder(spec); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

func TestHashFolderFindsTheFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"compiled/plugin*": "", "script/plugin.py": "", "project/package.json": "{}", "project/dist/plugin.js": "", "bin/python3*": "", "bin/node*": "",
	})
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	for want, command := range map[string][]string{
		"compiled": {filepath.Join(dir, "compiled/plugin"), filepath.Join(dir, "script/plugin.py")},
		"script":   {"python3", "-u", filepath.Join(dir, "script/plugin.py")},
		"project":  {"node", filepath.Join(dir, "project/dist/plugin.js")},
	} {
		program, folder, err := home(Spec{Name: "p", Command: command})
		if err != nil || folder != filepath.Join(dir, want) || !filepath.IsAbs(program) {
			t.Errorf("%v: %s %s %v", command, program, folder, err)
		}
	}
	if _, _, err := home(Spec{Name: "p", Command: []string{"python3", "-m", "plugin"}}); err == nil {
		t.Error("a module has no folder by itself")
	}
}

// copyOfPlugin is a folder with the test binary in it.
func copyOfPlugin(t *testing.T) (dir, program string) {
	t.Helper()
	dir = t.TempDir()
	program = filepath.Join(dir, "plugin")
	if out, err := exec.Command("cp", os.Args[0], program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir, program
}

func TestAPinnedPluginRunsFromACopy(t *testing.T) {
	t.Parallel()
	dir, program := copyOfPlugin(t)
	spec := faultySpec("ok", "")
	spec.Command = []string{program}
	spec.Pin = strings.ToUpper(hashOf(t, spec))
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := h.Statuses()[0]
	if !s.Pinned || !strings.EqualFold(s.Hash, spec.Pin) {
		t.Errorf("%+v", s)
	}
	if runs, err := os.Readlink("/proc/" + itoa(s.PID) + "/exe"); err == nil && within(dir, runs) {
		t.Errorf("it runs from %s", runs)
	}
	write(t, dir, map[string]string{"new": ""})
	_ = syscall.Kill(s.PID, syscall.SIGKILL)
	waitFor(t, "its end", func() bool { return h.Statuses()[0].PID == 0 })
	err := h.Start(t.Context())
	var pin *PinError
	if !errors.As(err, &pin) || pin.Folder != dir || pin.Expected != spec.Pin || pin.Actual == s.Hash || !strings.Contains(err.Error(), pin.Actual) {
		t.Errorf("%v", err)
	}
	if vote, _ := ask(t, h); vote.Action != recovery.ActionNone || !strings.Contains(vote.Error, "not what was pinned") {
		t.Errorf("%+v", vote)
	}
}

// PL-8 and P30: what the pin is for is swapped all the time, between any check and any
// exec. Only the pinned program ever runs.
func TestP30ASwappedProgramNeverRuns(t *testing.T) {
	t.Parallel()
	runs := 40
	if n := simRuns(); n > 0 {
		runs = n / 2
	}
	dir, program := t.TempDir(), ""
	program = filepath.Join(dir, "plugin")
	marks := t.TempDir()
	good := "#!/bin/sh\n>>" + marks + "/good\n"
	evil := "#!/bin/sh\n>>" + marks + "/evil\n"
	write(t, dir, map[string]string{"plugin*": good})
	spec := Spec{Name: "p", Command: []string{program}}
	spec.Pin = hashOf(t, spec)
	ctx, cancel := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			next := filepath.Join(marks, "next")
			_ = os.WriteFile(next, []byte(map[bool]string{true: evil, false: good}[n%2 == 0]), 0o755)
			_ = os.Rename(next, program)
		}
	})
	refused := 0
	for range runs {
		l := &launch{spec: spec, folders: newFolders(), logger: New().logger}
		if err := l.prepare(t.Context()); err != nil {
			var pin *PinError
			if !errors.As(err, &pin) {
				t.Error(err)
			}
			refused++
		} else if out, err := exec.Command(l.path).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		l.removeCopy()
		_ = l.folders.remove()
	}
	cancel()
	swapping.Wait()
	if _, err := os.Stat(filepath.Join(marks, "evil")); err == nil {
		t.Error("the swapped program ran")
	}
	if _, err := os.Stat(filepath.Join(marks, "good")); err != nil || refused == 0 {
		t.Errorf("%d of %d were refused, and the good one: %v", refused, runs, err)
	}
}

// An interpreted plugin: the script in the copy runs, arguments and folder moved along.
func TestMoveInto(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"plugin.sh": "", "data/x": ""})
	for name, c := range map[string]struct {
		spec Spec
		args string
		dir  string
	}{
		"absolute": {Spec{Command: []string{"sh", dir + "/plugin.sh", "--flag"}}, "COPY/plugin.sh --flag", ""},
		"relative": {Spec{Command: []string{"sh", "plugin.sh", "data/x"}, Dir: dir}, "plugin.sh data/x", "COPY"},
		"below":    {Spec{Command: []string{"sh", "../plugin.sh", dir + "/data/x"}, Dir: dir + "/data", Folder: dir}, "../plugin.sh COPY/data/x", "COPY/data"},
		"outside":  {Spec{Command: []string{"sh", "-s", "/etc/passwd"}, Folder: dir}, "", ""},
	} {
		c.spec.Name = "p"
		c.spec.Pin = hashOf(t, c.spec)
		l := &launch{spec: c.spec, folders: newFolders(), logger: New().logger}
		err := l.prepare(t.Context())
		moved := strings.ReplaceAll(strings.Join(l.args, " ")+"\n"+l.dir, l.copy, "COPY")
		if want := c.args + "\n" + c.dir; name == "outside" && err == nil || name != "outside" && (err != nil || moved != want) {
			t.Errorf("%s: %q, want %q: %v", name, moved, want, err)
		}
		_ = l.folders.remove()
	}
}
