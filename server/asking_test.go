package server

import (
	"slices"
	"testing"
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
