package pi

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// If a note's process is gone, the processes that it left are ended; nothing else is touched.
func TestPi07OnlyTheDeadAreSwept(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only Linux tells what is left:", err)
	}
	started, err := procgroup.StartedAt(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := strings.Fields(started)
	elsewhere[0] = "another-machine"
	for name, c := range map[string]struct {
		note string
		ends bool
	}{
		"gone":            {strconv.Itoa(os.Getppid()) + " " + started, true}, // the number is another's by now
		"alive":           {strconv.Itoa(os.Getpid()) + " " + started, false},
		"elsewhere":       {strconv.Itoa(os.Getpid()) + " " + strings.Join(elsewhere, " "), false},
		"no note":         {"", false},
		"no number":       {"x " + started, false},
		"without an end":  {strconv.Itoa(os.Getppid()) + " " + started + strings.Repeat(" ", procgroup.MaxNote), false},
		".being-written":  {strconv.Itoa(os.Getppid()) + " " + started, false},
		"only the number": {strconv.Itoa(os.Getppid()), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := folder{path: t.TempDir()}
			if err := os.MkdirAll(filepath.Join(f.path, ownersDir), 0o700); err != nil {
				t.Fatal(err)
			}
			// A mark has to be this test's alone, and no mark of a neighbour.
			owner := strings.ReplaceAll(name, " ", "-") + filepath.Base(filepath.Dir(f.path))
			path := filepath.Join(f.path, ownersDir, owner)
			if err := os.WriteFile(path, []byte(c.note), 0o600); err != nil {
				t.Fatal(err)
			}
			left := sleeper(t, ownerMark(owner))
			other := sleeper(t, ownerMark(owner+"0"))
			if _, err := New(Config{Folder: f.path}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); left() == c.ends || (err == nil) == c.ends {
				t.Errorf("what was left runs: %v; the note: %v", left(), err)
			}
			if !other() {
				t.Error("what has another mark was ended")
			}
		})
	}
}

// sleeper starts a program with that mark, in a group of its own, and gives whether it runs.
func sleeper(t *testing.T, mark string) (runs func() bool) {
	t.Helper()
	path, err := procgroup.LookUp("sleep", "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := procgroup.Start(procgroup.Program{Path: path, Args: []string{"sleep", "1000"}, Env: append(os.Environ(), mark)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.End(0) })
	is := func(variable string) bool { return variable == mark }
	for deadline := time.Now().Add(10 * time.Second); !slices.Contains(procgroup.Marked(is), p.PID()); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not start")
		}
	}
	return func() bool { return slices.Contains(procgroup.Marked(is), p.PID()) }
}

// All that an engine starts has its mark, in whose name a note stands for as long as there
// is something to be ended.
func TestOwner(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+saying("Fine.")+ended("Fine.", "stop")+done+quietly)
	if notes(t, e) != 0 {
		t.Error("there is a note before anything was started")
	}
	hear(t.Context(), t, e, ask())
	p := e.sessions["s"].last()
	if !slices.Contains(p.program.Env, e.owner) || e.owner == "" || notes(t, e) != 1 {
		t.Errorf("the mark is %q, there are %d notes", e.owner, notes(t, e))
	}
	again, err := New(e.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if p.isGone() || notes(t, e) != 1 {
		t.Error("the Pi of an engine that lives was ended")
	}
	e.Close()
	if notes(t, e) != 0 {
		t.Error("the note is left")
	}
}

func notes(t *testing.T, e *Engine) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(e.cfg.Folder, ownersDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
