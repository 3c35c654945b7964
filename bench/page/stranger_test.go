package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// generous is how long a step of a stranger may take on a machine that does much else; all of
// them together take seconds on one that does not.
const generous = 3 * time.Minute

// toStart and toPress are the stranger's second and third action, after the clone.
const (
	toStart = "make start"
	toPress = "529 Overloaded"

	toPressNext = "Cut in mid-sentence"
)

// stranger is somebody who has just cloned the repository: no key, no configuration, an empty home.
type stranger struct {
	t      *testing.T
	home   string
	opened string // the file that the browser was given
	socket string // of tmux
}

// newStranger types at a terminal what the README says, in the folder of the repository. What that
// compiles is compiled before, since a cold cache may take longer than any step waits.
func newStranger(t *testing.T) *stranger {
	t.Helper()
	chromium(t)
	needs.Programs(t, "the program in a terminal", "tmux", "make")
	home, err := os.MkdirTemp("", "") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{t: t, home: home, opened: filepath.Join(home, "opened.html"), socket: filepath.Join(home, "tmux")}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	build := exec.CommandContext(t.Context(), "make", "-s", "build")
	build.Dir = "../.."
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	browser := filepath.Join(home, "browser")
	script := "#!/bin/sh\ncp \"$1\" \"$HOME/opened.new\" && mv \"$HOME/opened.new\" \"$HOME/opened.html\"\n"
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-c", "../..", `trap : INT; `+toStart+`; echo "left with $?"; read _`)
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
		"GOCACHE=" + goEnv(s.t, "GOCACHE"), "GOMODCACHE=" + goEnv(s.t, "GOMODCACHE"), "GOFLAGS=" + goEnv(s.t, "GOFLAGS"),
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("tmux %v: %v\n%s", args, err, said)
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(value))
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
	w := (&harness{t: s.t, url: "file://"}).visit(s.opened, look{width: 1280, height: 820, scale: 1, reduced: true})
	w.patience = generous
	w.wait(`location.protocol === 'http:' && document.querySelector('mulligan-lab button')`)
	return w
}

// TestTheFirstFiveMinutes is a stranger's path from the clone to a recovery that was watched. It has
// three actions, which the README's first screen names: git clone, make start, and to press a button.
func TestTheFirstFiveMinutes(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first := string(readme[:min(len(readme), 1200)])
	if !strings.Contains(first, "`"+toStart+"`") || !strings.Contains(first, `press "`+toPress+`"`) {
		t.Errorf("the first screen of the README does not say %q and %q", toStart, toPress)
	}
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
	w.press(toPress)
	w.says(".recovery", "Recovered after")
	w.wait(`document.querySelector('.run').dataset.status === 'completed'`)
	w.says(".prose", "only the call that failed was made again")
	w.looks(source, "play-recovered")

	// The same without a mouse.
	w.be(look{width: 1280, height: 820, scale: 1, reduced: true})
	w.tab(toPressNext)
	w.strike(kb.Enter)
	w.wait(`document.querySelectorAll('.run').length === 2 && document.querySelector('.run:last-child').dataset.status === 'completed'`)
	w.says(".run:last-child .recovery", "Recovered after 1 retry")
}
