package plugininstall

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
)

// TestMain is also the process that is killed during an install.
func TestMain(m *testing.M) {
	if home := os.Getenv("PLUGININSTALL_TEST_KILLED"); home != "" {
		in := anInstaller(home)
		in.Test = func(context.Context, *Package) error {
			me, _ := os.FindProcess(os.Getpid())
			return me.Kill()
		}
		_, err := in.Install(context.Background(), Source{Kind: KindFolder, Name: filepath.Join(home, "rules")}, "")
		_, _ = os.Stderr.WriteString("it was not killed: " + err.Error())
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// anInstaller confirms everything, and accepts every plugin.
func anInstaller(home string) *Installer {
	return &Installer{
		Folder: filepath.Join(home, "installed"), Config: filepath.Join(home, "config", "mulligan.yaml"),
		Tell:  func(string) {},
		Agree: func(context.Context, []string) error { return nil },
		Test:  func(context.Context, *Package) error { return nil },
	}
}

// lay writes files below a folder; those that begin with "#!" are executable.
func lay(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path, mode := filepath.Join(folder, name), os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// aHome has a plugin in the folder rules.
func aHome(t *testing.T) (home string, rules Source) {
	t.Helper()
	home = t.TempDir()
	rules = Source{Kind: KindFolder, Name: filepath.Join(home, "rules")}
	lay(t, rules.Name, map[string]string{
		trust.ManifestName: "name: my-rules\nversion: 1.0.0\ncommand: [bin/rules, words.txt, --loud]\nenv: [TOKEN]\n", "bin/rules": "#!/bin/sh\n", "words.txt": "a\n",
		".git/HEAD": "x", ".mulligan/sdk": "x", ".venv/lib/a.py": "x", "Cargo.toml": "x", "target/debug/a": "x", "src/target/b": "x", "__pycache__/a.pyc": "x",
	})
	return home, rules
}

// leftIn are the names in the folder of all installed plugins, without its lock.
func leftIn(t *testing.T, in *Installer) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(in.Folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != lockFile {
			names = append(names, entry.Name())
		}
	}
	return names
}

func TestAFolderIsCopiedPinnedAndConfigured(t *testing.T) {
	home, rules := aHome(t)
	in := anInstaller(home)
	var offered []string
	in.Agree = func(_ context.Context, lines []string) error {
		offered = append(offered, lines...)
		if _, err := os.Stat(in.Config); err == nil {
			t.Error("the config is there before anybody agreed")
		}
		return nil
	}
	p, err := in.Install(t.Context(), rules, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{p.Folder + "/bin/rules", p.Folder + "/words.txt", "--loud"}; strings.Join(p.Command, " ") != strings.Join(want, " ") {
		t.Errorf("it starts by %v, not %v", p.Command, want)
	}
	text := strings.Join(offered, "\n")
	for _, want := range []string{"my-rules 1.0.0, from " + rules.Name, "the environment's TOKEN", "about run_error", p.SHA256} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	c, _, err := in.read()
	if err != nil || len(c.Plugins) != 2 || c.Plugins[0].Folder != p.Folder || c.Plugins[1].Name != "auto-recover" {
		t.Errorf("the config has %+v, %v", c.Plugins, err)
	}
	l, err := trust.ReadLock(filepath.Join(filepath.Dir(in.Config), trust.LockName))
	if e := l.Plugins["my-rules"]; err != nil || e.SHA256 != p.SHA256 || strings.Join(e.Env, " ") != "TOKEN" {
		t.Errorf("the lock has %+v, %v", e, err)
	}
	for name, there := range map[string]bool{
		".git": false, ".mulligan": false, "target": false, "__pycache__": false, ".venv/lib/a.py": true, "src/target/b": true, receiptName: true,
	} {
		if _, err := os.Stat(filepath.Join(p.Folder, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, err := readReceipt(p.Folder); err != nil || r.Source != rules.Name || r.Version != "1.0.0" || r.Config != in.Config {
		t.Errorf("receipt: %+v, %v", r, err)
	}
	if err := in.Remove("my-rules"); err != nil {
		t.Fatal(err)
	}
	if left := leftIn(t, in); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestWhatFailsLeavesNothing has everything fail that can fail after the fetch.
func TestWhatFailsLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	for name, spoil := range map[string]func(t *testing.T, in *Installer){
		"disagreed": func(_ *testing.T, in *Installer) {
			in.Agree = func(context.Context, []string) error { return broken }
		},
		"untested": func(_ *testing.T, in *Installer) {
			in.Test = func(context.Context, *Package) error { return broken }
		},
		"writes into its folder": func(_ *testing.T, in *Installer) {
			in.Test = func(_ context.Context, p *Package) error {
				return os.WriteFile(filepath.Join(p.Folder, "log.txt"), nil, 0o600)
			}
		},
		"somebody was faster": func(t *testing.T, in *Installer) {
			in.Test = func(context.Context, *Package) error {
				lay(t, filepath.Dir(in.Config), map[string]string{"mulligan.yaml": "plugins: [{name: my-rules, command: [x]}]\n"})
				return nil
			}
		},
		"no config can be written": func(t *testing.T, in *Installer) {
			in.Test = func(context.Context, *Package) error {
				lay(t, filepath.Dir(in.Config), map[string]string{"mulligan.yaml": "{model: a/b}\n"})
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, rules := aHome(t)
			in := anInstaller(home)
			spoil(t, in)
			if p, err := in.Install(t.Context(), rules, ""); err == nil {
				t.Fatalf("it was installed: %+v", p)
			}
			if left := leftIn(t, in); left != nil {
				t.Errorf("left behind: %v", left)
			}
			if l, err := trust.ReadLock(filepath.Join(filepath.Dir(in.Config), trust.LockName)); err != nil || len(l.Plugins) > 0 {
				t.Errorf("the lock has %v, %v", l.Plugins, err)
			}
		})
	}
}

// TestAKilledInstall: an install that was killed is in no config, and the next install removes its
// files.
func TestAKilledInstall(t *testing.T) {
	home, rules := aHome(t)
	killed := exec.CommandContext(t.Context(), os.Args[0])
	killed.Env = append(os.Environ(), "PLUGININSTALL_TEST_KILLED="+home)
	if out, err := killed.CombinedOutput(); err == nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	in := anInstaller(home)
	if left := leftIn(t, in); len(left) != 2 {
		t.Fatalf("the one that was killed left %v", left)
	}
	if _, err := os.Stat(in.Config); !errors.Is(err, os.ErrNotExist) {
		t.Error("there is a config:", err)
	}
	p, err := in.Install(t.Context(), rules, "")
	if err != nil {
		t.Fatal(err)
	}
	if left := leftIn(t, in); len(left) != 1 || left[0] != filepath.Base(p.Folder) {
		t.Errorf("left are %v", left)
	}
	// An install that was killed after it wrote the config is complete.
	lay(t, in.Folder, map[string]string{markerLead + filepath.Base(p.Folder): ""})
	in.sweep()
	if left := leftIn(t, in); len(left) != 1 {
		t.Errorf("an installed plugin was swept away: %v", left)
	}
}

func TestInstallsAtOnce(t *testing.T) {
	home, rules := aHome(t)
	names := []string{"a", "b", "c", "d"}
	var all sync.WaitGroup
	for _, name := range append(names, names...) {
		all.Go(func() { _, _ = anInstaller(home).Install(t.Context(), rules, name) })
	}
	all.Wait()
	in := anInstaller(home)
	c, _, err := in.read()
	if err != nil || len(c.Plugins) != len(names)+1 {
		t.Errorf("%d plugins are configured, %v", len(c.Plugins), err)
	}
	if left := leftIn(t, in); len(left) != len(names) {
		t.Errorf("%d folders are left: %v", len(left), left)
	}
	l, err := trust.ReadLock(filepath.Join(filepath.Dir(in.Config), trust.LockName))
	if err != nil || len(l.Plugins) != len(names) {
		t.Errorf("the lock has %v, %v", l.Plugins, err)
	}
}

func TestPlaced(t *testing.T) {
	folder := t.TempDir()
	lay(t, folder, map[string]string{"bin/a": "#!/bin/sh\n", "sh": "x", "b.py": "x"})
	for words, want := range map[string]string{
		"bin/a b.py -v": folder + "/bin/a " + folder + "/b.py -v",
		"sh b.py":       "sh " + folder + "/b.py", // found on the PATH, as in a shell
		"./bin/a ../x":  folder + "/bin/a ../x",
	} {
		if got, err := placed(folder, strings.Fields(words)); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v", words, got, err)
		}
	}
	for words, want := range map[string]string{
		"/bin/sh b.py": "neither in its folder", "../a": "neither in its folder", "bin/none": "build it first", "no-such-program": "cannot be started",
	} {
		if got, err := placed(folder, strings.Fields(words)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", words, got, err)
		}
	}
}
