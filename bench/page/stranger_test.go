package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// generous is how long a step of a stranger may take on a machine that does much else; all of
// them together take seconds on one that does not.
const generous = 3 * time.Minute

// stranger is somebody who has just cloned the repository: no key, no configuration, an empty home.
type stranger struct {
	t      *testing.T
	home   string
	opened string // the file that the browser was given
	socket string // of tmux
}

// newStranger builds the program, which is not timed, and types its name at a terminal.
func newStranger(t *testing.T) *stranger {
	t.Helper()
	chromium(t)
	needs.Programs(t, "the program in a terminal", "tmux")
	home, err := os.MkdirTemp("", "") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{t: t, home: home, opened: filepath.Join(home, "opened.html"), socket: filepath.Join(home, "tmux")}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	program, browser := filepath.Join(home, "mulligan"), filepath.Join(home, "browser")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/mulligan")
	build.Dir = "../.."
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	script := "#!/bin/sh\ncp \"$1\" \"$HOME/opened.new\" && mv \"$HOME/opened.new\" \"$HOME/opened.html\"\n"
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-c", home, program+`; echo "left with $?"; read _`)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", s.socket, "send-keys", "C-c").Run()
		for end := time.Now().Add(generous); time.Now().Before(end) && !strings.Contains(s.screen(), "left with"); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	return s
}

func (s *stranger) tmux(args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "BROWSER=" + filepath.Join(s.home, "browser"),
		"TERM=xterm-256color", "SHELL=/bin/sh", "LC_ALL=C.UTF-8",
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("tmux %v: %v\n%s", args, err, said)
	}
}

// screen is what the terminal shows, "" once there is none.
func (s *stranger) screen() string {
	out, _ := exec.Command("tmux", "-S", s.socket, "capture-pane", "-p").Output()
	return string(out)
}

// browse opens what the program gave the browser, as soon as it has.
func (s *stranger) browse() *window {
	s.t.Helper()
	for end := time.Now().Add(generous); ; time.Sleep(25 * time.Millisecond) {
		if _, err := os.Stat(s.opened); err == nil {
			break
		}
		if time.Now().After(end) {
			s.t.Fatalf("no browser was opened; the terminal shows:\n%s", s.screen())
		}
	}
	w := (&house{t: s.t, url: "file://"}).visit(s.opened, look{width: 1280, height: 820, scale: 1, reduced: true})
	w.patience = generous
	w.wait(`location.protocol === 'http:' && document.querySelector('mulligan-lab button')`)
	return w
}

// TestTheFirstFiveMinutes is a stranger's path from the clone to a recovery that was watched. It has
// three actions: to build the program, to type its name, and to press a button.
func TestTheFirstFiveMinutes(t *testing.T) {
	source := axe(t)
	s := newStranger(t)
	w := s.browse()
	if got := w.text("header h1"); got != "New conversation" || eval[bool](w, `location.hash !== ''`) {
		t.Errorf("the page is %q at %s", got, eval[string](w, `location.href`))
	}
	w.looks(source, "play")
	w.be(looks["phone"])
	w.wait(`document.querySelector('.scroll h2').getBoundingClientRect().top > document.querySelector('.scroll').getBoundingClientRect().top`)
	w.be(look{width: 1280, height: 820, scale: 1, reduced: true})
	w.press("529 Overloaded")
	w.says(".recovery", "Recovered after")
	w.wait(`document.querySelector('.run').dataset.status === 'completed'`)
	w.says(".prose", "only the call that failed was made again")
	w.looks(source, "play-recovered")
}
