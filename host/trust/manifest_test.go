package trust

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

func TestParseManifest(t *testing.T) {
	got, err := parseManifest([]byte("name: mine\nversion: 1.2.0\ndescription: Pages.\ncommand: [bin/mine, -v]\noccasions: [run_error]\nenv: [A, B_2]\ntranscript: none\n"))
	want := Manifest{Name: "mine", Version: "1.2.0", Description: "Pages.", Command: []string{"bin/mine", "-v"}, Occasions: []string{"run_error"}, Env: []string{"A", "B_2"}, Transcript: "none"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	for text, want := range map[string]string{"1.10": "1.10", "2": "2", "\"1.0\" # ours": "1.0", "1.0.0-rc.1": "1.0.0-rc.1", "'0.20'": "0.20", "1.0 # a": "1.0"} {
		if got, err := parseManifest([]byte("version: " + text + "\nname: a\n")); err != nil || string(got.Version) != want || got.Name != "a" {
			t.Errorf("version %s: %+v, %v", text, got, err)
		}
	}
	if got, err := parseManifest(nil); err != nil || len(got.Env) != 0 {
		t.Errorf("an empty one: %+v, %v", got, err)
	}
	for name, tt := range map[string]struct{ source, want string }{
		"unknown key": {"environment: [A]\n", "environment"},
		"value":       {"env: [A=b]\n", "not the name of a variable"},
		"twice":       {"env: [A, A]\n", "asked for twice"},
		"too many":    {"env: [" + strings.TrimSuffix(strings.Repeat("A, ", 65), ", ") + "]\n", "more than 64"},
		"name":        {"name: A B\n", "not the name of a plugin"},
		"long":        {"description: " + strings.Repeat("a", 501) + "\n", "longer than 500"},
		"command":     {"command: []\n", "a program and its arguments"},
		"no program":  {"command: [\"\"]\n", "a program and its arguments"},
		"version":     {"version: \"" + strings.Repeat("1", 101) + "\"\n", "longer than 100"},
		"transcript":  {"env: [A]\ntranscript: everything\n", "write messages, or none"},
		"broken":      {"env: [\n", "1:"},
	} {
		if _, err := parseManifest([]byte(tt.source)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAManifestIsAnOrdinaryFile tries what else a folder may hold under its name.
func TestAManifestIsAnOrdinaryFile(t *testing.T) {
	for name, lay := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"way out": func(path string) error {
			other := filepath.Join(filepath.Dir(filepath.Dir(path)), "other.yaml")
			if err := os.WriteFile(other, []byte("env: [A]\n"), 0o600); err != nil {
				return err
			}
			return os.Symlink(other, path)
		},
		"much": func(path string) error { return os.WriteFile(path, make([]byte, maxManifest+1), 0o600) },
	} {
		folder := filepath.Join(t.TempDir(), "plugin")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := lay(filepath.Join(folder, ManifestName)); err != nil {
			t.Fatal(err)
		}
		if m, err := ReadManifest(folder); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestMissing(t *testing.T) {
	m := Manifest{Env: []string{"A", "B", "C", "D"}, Transcript: TranscriptMessages}
	env := []string{"B", "C=1"}
	if got := m.Missing(env, "", Entry{Env: []string{"D", "E"}}); !cmp.Equal(got, []string{"A", "the transcript"}) {
		t.Errorf("missing: %v", got)
	}
	if got := m.Missing(env, "", Entry{Env: []string{"A", "D"}, Transcript: TranscriptMessages}); got != nil {
		t.Errorf("missing: %v", got)
	}
	if got := m.Missing(env, TranscriptMessages, Entry{Env: []string{"A", "D"}}); got != nil { // the config gives it
		t.Errorf("missing: %v", got)
	}
}

// FuzzManifest reads what plugins say.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("name: mine\ndescription: Pages.\nenv: [A, B_2]\ntranscript: none\n"))
	f.Add([]byte("env: [A, A"))
	f.Fuzz(func(t *testing.T, source []byte) {
		m, err := parseManifest(source)
		if err != nil {
			return
		}
		for _, name := range m.Env {
			if !yamlfile.EnvName.MatchString(name) {
				t.Errorf("%q is asked for", name)
			}
		}
		if CheckTranscript("", m.Transcript) != nil {
			t.Errorf("transcript %q", m.Transcript)
		}
	})
}
