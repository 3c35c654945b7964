package plugininstall

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
)

func TestUpdate(t *testing.T) {
	home, rules := aHome(t)
	in := anInstaller(home)
	first, err := in.Install(t.Context(), rules, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Update(t.Context(), "my-rules", nil); !errors.Is(err, ErrNewest) {
		t.Error(err)
	}
	text, err := os.ReadFile(in.Config)
	if err != nil {
		t.Fatal(err)
	}
	// A person changes the entry, and revokes a grant.
	lay(t, filepath.Dir(in.Config), map[string]string{"mulligan.yaml": strings.Replace(string(text), "    folder:", "    config: {a: 1} # mine\n    folder:", 1)})
	l, err := trust.ReadLock(in.lockPath())
	if err != nil {
		t.Fatal(err)
	}
	e := l.Plugins["my-rules"]
	e.Env = nil
	if err := l.Set("my-rules", e); err != nil {
		t.Fatal(err)
	}
	lay(t, rules.Name, map[string]string{
		trust.ManifestName: "name: my-rules\nversion: 1.1.0\ncommand: [bin/rules]\nenv: [TOKEN, MORE]\ntranscript: messages\noccasions: [run_error, before_call]\n", "new.txt": "x",
	})
	var shown string
	in.Agree = func(_ context.Context, lines []string) error {
		shown = strings.Join(lines, "\n")
		return nil
	}
	second, err := in.Update(t.Context(), "my-rules", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1.0.0, to be replaced by 1.1.0", "added new.txt", "changed " + trust.ManifestName, "got before the environment's TOKEN\n", "MORE, TOKEN; and what is said",
		"its entry says run_error, and that stays",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	c, source, err := in.read()
	if err != nil || c.Plugins[0].Folder != second.Folder || len(c.Plugins[0].Command) != 1 || !strings.Contains(string(source), "config: {a: 1} # mine") {
		t.Errorf("the config is %v\n%s", err, source)
	}
	if l, err = trust.ReadLock(in.lockPath()); err != nil {
		t.Fatal(err)
	}
	if e := l.Plugins["my-rules"]; e.SHA256 != second.SHA256 || strings.Join(e.Env, " ") != "MORE" || e.Transcript != trust.TranscriptMessages {
		t.Errorf("the lock has %+v", e)
	}
	if _, err := os.Stat(first.Folder); !errors.Is(err, os.ErrNotExist) {
		t.Error("the old folder is still there:", err)
	}
	if left := leftIn(t, in); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
	if _, err := in.Update(t.Context(), "auto-recover", nil); err == nil || !strings.Contains(err.Error(), "was not installed") {
		t.Error(err)
	}
}

// TestAFailedUpdate leaves everything as it was.
func TestAFailedUpdate(t *testing.T) {
	home, rules := aHome(t)
	in := anInstaller(home)
	p, err := in.Install(t.Context(), rules, "")
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(in.lockPath())
	if err != nil {
		t.Fatal(err)
	}
	lay(t, rules.Name, map[string]string{"words.txt": "b\n"})
	broken := errors.New("broken")
	in.Test = func(context.Context, *Package) error { return broken }
	if _, err := in.Update(t.Context(), "my-rules", nil); !errors.Is(err, broken) {
		t.Error(err)
	}
	// After a crash between the two files, the next process restores the lock.
	st, err := in.begin("my-rules")
	if err != nil {
		t.Fatal(err)
	}
	l, err := trust.ReadLock(in.lockPath())
	if err != nil {
		t.Fatal(err)
	}
	now := strings.Repeat("0a", 32)
	if err := st.intends(change{Lock: l.Path, Name: "my-rules", Was: l.Plugins["my-rules"], Now: now}); err != nil {
		t.Fatal(err)
	}
	if err := l.Set("my-rules", trust.Entry{SHA256: now}); err != nil {
		t.Fatal(err)
	}
	if err := st.marker.Close(); err != nil { // as if the process had ended
		t.Fatal(err)
	}
	in.sweep()
	if after, err := os.ReadFile(in.lockPath()); err != nil || string(after) != string(before) {
		t.Errorf("the lock is %v\n%s", err, after)
	}
	if left := leftIn(t, in); len(left) != 1 || left[0] != filepath.Base(p.Folder) {
		t.Errorf("left are %v", left)
	}
}
