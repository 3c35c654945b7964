package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwners(t *testing.T) {
	isRoot := os.Geteuid() == 0
	for name, c := range map[string]struct {
		change func(dir string) error
		path   string
		want   string
		root   bool
	}{
		"ours":               {func(string) error { return nil }, "sub/plugin", "", false},
		"file open to all":   {func(d string) error { return os.Chmod(d+"/sub/plugin", 0o757) }, "sub/plugin", "everyone may write", false},
		"folder open to all": {func(d string) error { return os.Chmod(d+"/sub", 0o777) }, "sub/plugin", "everyone may write", false},
		"parent open to all": {func(d string) error { return os.Chmod(d, 0o777) }, "sub/plugin", "everyone may write", false},
		"sticky parent":      {func(d string) error { return os.Chmod(d, 0o777|os.ModeSticky) }, "sub/plugin", "", false},
		"sticky file":        {func(d string) error { return os.Chmod(d+"/sub/plugin", 0o777|os.ModeSticky) }, "sub/plugin", "everyone may write", false},
		"another's file":     {func(d string) error { return os.Chown(d+"/sub/plugin", 4711, 4711) }, "sub/plugin", "belongs to user 4711", true},
		"another's folder":   {func(d string) error { return os.Chown(d+"/sub", 4711, 4711) }, "sub/plugin", "belongs to user 4711", true},
		"a group's folder":   {func(d string) error { _ = os.Chown(d+"/sub", -1, 4711); return os.Chmod(d+"/sub", 0o775) }, "sub/plugin", "group 4711 may write", true},
		"a trusted group's":  {func(d string) error { _ = os.Chown(d+"/sub", -1, 50); return os.Chmod(d+"/sub", 0o775) }, "sub/plugin", "", true},
		"a link":             {func(d string) error { return os.Symlink("sub/plugin", d+"/link") }, "link", "", false},
		"a link to an open file": {func(d string) error {
			_ = os.Chmod(d+"/sub/plugin", 0o777)
			return os.Symlink(d+"/sub/plugin", d+"/link")
		}, "link", "everyone may write", false},
		"a link in an open folder": {func(d string) error {
			_ = os.Mkdir(d+"/open", 0o777)
			_ = os.Chmod(d+"/open", 0o777)
			_ = os.Symlink("../sub/plugin", d+"/open/link")
			return os.Symlink("open/link", d+"/link")
		}, "link", "everyone may write", false},
		"a circle": {func(d string) error { _ = os.Symlink("b", d+"/a"); return os.Symlink("a", d+"/b") }, "a", "too many symbolic links", false},
		"nothing":  {func(string) error { return nil }, "none", "no such file", false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.root && !isRoot {
				t.Skip("NOT TESTED: only root gives files away")
			}
			dir := t.TempDir()
			write(t, dir, map[string]string{"sub/plugin*": ""})
			if err := c.change(dir); err != nil {
				t.Fatal(err)
			}
			err := checkOwners(filepath.Join(dir, c.path))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

// A plugin that others may replace is not started, unless it is pinned.
func TestAnUnsafePluginIsNotStarted(t *testing.T) {
	t.Parallel()
	dir, program := copyOfPlugin(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	spec := faultySpec("ok", "")
	spec.Command = []string{program}
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "everyone may write") {
		t.Error(err)
	}
	spec.Pin = hashOf(t, spec)
	if err := h.Reload(t.Context(), spec); err != nil {
		t.Error(err)
	}
}
