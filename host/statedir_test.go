package host

import (
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestOtherProcessesAreTold(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	h := New(WithStateDir(dir))
	t.Cleanup(func() { _ = h.Close() })
	spec := faultySpec("log", "")
	spec.Labels = map[string]string{"mode": "shadow"}
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	ask(t, h)
	var told []HostState
	waitFor(t, "the state", func() bool {
		told, _ = ReadStates(dir)
		return len(told) == 1 && len(told[0].Plugins) == 1 && told[0].Plugins[0].P99 > 0
	})
	p := told[0].Plugins[0]
	if told[0].PID != os.Getpid() || p.HostPID != os.Getpid() || p.State != StateReady || p.Breaker != BreakerClosed ||
		p.Labels["mode"] != "shadow" || p.Language != "go" || p.Version != "1.2.3" {
		t.Errorf("%+v", told)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "logs"): 0o700, LogFile(dir, "faulty"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if told, err := ReadStates(dir); len(told) > 0 || err != nil {
		t.Errorf("%+v %v", told, err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*.json*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// The plugin's own log, as the file has it.
func TestLogLinesAreReadAndNotTrusted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := New(WithStateDir(dir))
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(faultySpec("log", "")); err != nil {
		t.Fatal(err)
	}
	ask(t, h)
	_ = h.Close()
	text, err := os.ReadFile(LogFile(dir, "faulty"))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(text)) {
		var l struct{ Level, Msg, Run, More string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if l.Run == "r" {
			found = true
			if l.Level != "WARN" || l.Msg != `over quota\x1b[2J` || l.More != `{"limit":3}` {
				t.Errorf("%+v", l)
			}
		}
	}
	if !found || strings.Contains(string(text), "\x1b") {
		t.Errorf("%s", text)
	}
}

// startOf is when this very process began: another number with that is nobody's.
func startOf(t *testing.T) string {
	t.Helper()
	started, err := procgroup.StartedAt(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return started
}

func TestReadStatesForgetsTheDead(t *testing.T) {
	dir := t.TempDir()
	started := startOf(t)
	another := strings.Fields(started)
	another[0] = "another-machine"
	strange := strings.Join(another, " ")
	for name, content := range map[string]string{
		"1.json":     `{"pid":` + itoa(os.Getpid()) + `,"started":"` + started + `","plugins":[{"name":"a"}]}`,
		"2.json":     `{"pid":` + itoa(os.Getpid()) + `,"started":"somebody else's number"}`,
		"3.json":     `{"pid":2147483646,"started":"` + started + `"}`,
		"8.json":     `{"pid":1,"started":"` + strange + `","updated":"` + time.Now().Format(time.RFC3339) + `"}`,
		"9.json":     `{"pid":1,"started":"` + strange + `","updated":"2026-01-02T03:04:05Z"}`,
		"4.json":     `not JSON`,
		"5.json":     `"` + strings.Repeat("x", maxState) + `"`,
		"other.text": ``,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "6.json")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "7.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	states, err := ReadStates(dir)
	if len(states) != 1 || states[0].Plugins[0].Name != "a" || err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("%+v %v", states, err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 7 {
		t.Errorf("left: %v", left)
	}
	if states, err := ReadStates(filepath.Join(dir, "nowhere")); states != nil || err != nil {
		t.Errorf("%v %v", states, err)
	}
}

// A folder that cannot be used costs nothing but what would be in it.
func TestAnUnusableStateFolderIsNoError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	h := New(WithLogger(slog.New(slog.NewTextHandler(&log, nil))), WithStateDir(file))
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(faultySpec("ok", "")); err != nil || !strings.Contains(log.String(), "not written") {
		t.Errorf("%v %s", err, log.String())
	}
}

func TestALogIsRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.log")
	one, other := &logFile{path: path}, &logFile{path: path} // of two processes
	line := []byte(strings.Repeat("x", 16<<10-1) + "\n")
	for range 150 {
		for _, l := range []*logFile{one, other} {
			if _, err := l.Write(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	one.close()
	other.close()
	if _, err := one.Write(line); err != nil {
		t.Error(err)
	}
	files, _ := filepath.Glob(path + "*")
	if len(files) != 1+keptLogs {
		t.Errorf("%v", files)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || info.Size() > maxLogFile+int64(len(line)) || info.Size()%int64(len(line)) != 0 {
			t.Errorf("%s: %v %v", name, info.Size(), err)
		}
	}
}

// What a killed host has left is removed by the next one, and nothing else.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	long := time.Now().Add(-time.Hour)
	folder := func(name, owner string, mode fs.FileMode) {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, mode); err != nil {
			t.Fatal(err)
		}
		if owner != "" {
			write(t, dir, map[string]string{ownerFile: owner, "plugin-dir1/s": ""})
		}
		_ = os.Chtimes(dir, long, long)
	}
	started := startOf(t)
	another := strings.Fields(started)
	another[0] = "another-machine"
	strange := strings.Join(another, " ")
	folder("mulligan-dead", "2147483646 "+started, 0o700)
	folder("mulligan-reused", itoa(os.Getpid())+" "+started+"1", 0o700)
	folder("mulligan-ours", itoa(os.Getpid())+" "+started, 0o700)
	folder("mulligan-strange", "2147483646 "+strange, 0o700)
	folder("mulligan-unmarked", "", 0o700)
	folder("mulligan-open", "2147483646 "+started, 0o755)
	folder("somebody's", "2147483646 "+started, 0o700)
	folder("mulligan-young", "2147483646 "+started, 0o700)
	_ = os.Chtimes(filepath.Join(parent, "mulligan-young"), time.Now(), time.Now())
	if err := os.Symlink(filepath.Join(parent, "somebody's"), filepath.Join(parent, "mulligan-link")); err != nil {
		t.Fatal(err)
	}
	sweep(parent, time.Now())
	var left []string
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != "mulligan-link mulligan-open mulligan-ours mulligan-strange mulligan-unmarked mulligan-young somebody's" {
		t.Errorf("left: %s", got)
	}
}
