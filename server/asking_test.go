package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/recovery"
)

// TestNotifier: a desktop is told by its own program, which takes nothing of what is told for a
// command or markup; where there is no desktop nothing is started.
func TestNotifier(t *testing.T) {
	for name, c := range map[string]struct {
		system, display, wayland, program string
		last                              string
	}{
		"macOS":                 {"darwin", "", "", "osascript", "-e <b>"},
		"Linux with X":          {"linux", ":0", "", "notify-send", "-e &lt;b&gt;"},
		"Linux with Wayland":    {"linux", "", "wayland-0", "notify-send", "-e &lt;b&gt;"},
		"Linux without desktop": {"linux", "", "", "", ""},
		"another system":        {"plan9", ":0", "", "", ""},
	} {
		program, args := notifier(c.system, func(name string) string {
			return map[string]string{"DISPLAY": c.display, "WAYLAND_DISPLAY": c.wayland}[name]
		}, "A title", "-e <b>")
		if program != c.program || program != "" && args[len(args)-1] != c.last {
			t.Errorf("%s: %s %q", name, program, args)
		}
		if title := slices.Index(args, "A title"); program != "" && title != len(args)-2 {
			t.Errorf("%s: the title is not before the text: %q", name, args)
		}
	}
}

// TestDesktopIsTold: the desktop's own program is told that a call waits, why and where it is
// answered, and nothing else of the suggestion; with ask_notify: false nobody is.
func TestDesktopIsTold(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skipf("no program of a desktop is known for %s", runtime.GOOS)
	}
	for name, c := range map[string]struct {
		config string
		told   bool
	}{
		"by default": {"plugins: []", true},
		"turned off": {"proxy: {ask_notify: false}", false},
	} {
		t.Run(name, func(t *testing.T) {
			told, log := desktop(t)
			cfg, err := config.Parse([]byte(c.config))
			if err != nil {
				t.Fatal(err)
			}
			cfg.State = t.TempDir()
			srv, err := New(cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			asked := recovery.Suggestion{Title: "The service is overloaded; $(touch owned)"}
			asked.Error.Message = "it said a secret"
			srv.asks(slog.New(log))("r-17", asked)
			text := told(c.told)
			switch {
			case !c.told && text != "":
				t.Errorf("told although it is turned off: %q", text)
			case !c.told:
			case !strings.Contains(text, "The service is overloaded; $(touch owned)\n") || !strings.Contains(text, "recover r-17\n"):
				t.Errorf("told %q", text)
			case strings.Contains(text, "secret"):
				t.Errorf("it repeats what was said: %q", text)
			}
		})
	}
}

// desktop puts a program in the place of the desktop's; told gives its arguments, a line each,
// and waits for them if some are to come. What fails is logged.
func desktop(t *testing.T) (told func(some bool) string, log slog.Handler) {
	t.Helper()
	dir := t.TempDir()
	const script = "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$0.part\" && mv \"$0.part\" \"$0.told\"\n"
	for _, name := range []string{"notify-send", "osascript"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":0")
	const patience, glance = 20 * time.Second, 300 * time.Millisecond
	return func(some bool) string {
		wait := glance
		if some {
			wait = patience
		}
		for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			files, err := filepath.Glob(filepath.Join(dir, "*.told"))
			if err != nil {
				t.Fatal(err)
			}
			if len(files) == 0 {
				continue
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		return ""
	}, slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})
}
