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

// stepTimeout is how long one step may take on a busy machine; on an idle one all of them together
// take seconds.
const stepTimeout = 3 * time.Minute

// toStart and toPress are the new user's second and third action, after the clone.
const (
	toStart = "make start"
	toPress = "529 Overloaded"

	toPressNext = "Cut in mid-sentence"
)

// newUser is somebody who has just cloned the repository: no key, no configuration, an empty home.
type newUser struct {
	t      *testing.T
	home   string
	opened string // the file that the browser was given
	socket string // of tmux
}

// beginAsNewUser types the README's commands in a terminal, in the repository's folder. Everything
// that they compile is compiled before, since that may take longer than a step with a cold cache.
func beginAsNewUser(t *testing.T) *newUser {
	t.Helper()
	chromium(t)
	needs.Programs(t, "the program in a terminal", "tmux", "make")
	home, err := os.MkdirTemp("", "") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &newUser{t: t, home: home, opened: filepath.Join(home, "opened.html"), socket: filepath.Join(home, "tmux")}
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
		for end := time.Now().Add(stepTimeout); time.Now().Before(end) && !strings.Contains(s.screen(), "left with"); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	return s
}

func (s *newUser) tmux(args ...string) {
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

// screen is the terminal's contents; "" once it has ended.
func (s *newUser) screen() string {
	out, _ := exec.Command("tmux", "-S", s.socket, "capture-pane", "-p").Output()
	return string(out)
}

// browse opens in a browser what the program opens, as soon as it does.
func (s *newUser) browse() *window {
	s.t.Helper()
	for end := time.Now().Add(stepTimeout); ; time.Sleep(25 * time.Millisecond) {
		if _, err := os.Stat(s.opened); err == nil {
			break
		}
		if time.Now().After(end) {
			s.t.Fatalf("no browser was opened; the terminal shows:\n%s", s.screen())
		}
	}
	w := (&harness{t: s.t, url: "file://"}).visit(s.opened, look{width: 1280, height: 820, scale: 1, reduced: true})
	w.timeout = stepTimeout
	w.wait(`location.protocol === 'http:' && document.querySelector('mulligan-lab button')`)
	return w
}

// TestTheFirstFiveMinutes is a new user's path from the clone to a recovery. It has three actions,
// which the README's first screen names: git clone, make start, and pressing a button.
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
	s := beginAsNewUser(t)
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
	w.says(".prose", "only the call that failed is made again")
	w.looks(source, "play-recovered")

	// The same without a mouse.
	w.be(look{width: 1280, height: 820, scale: 1, reduced: true})
	w.tab(toPressNext)
	w.strike(kb.Enter)
	w.wait(`document.querySelectorAll('.run').length === 2 && document.querySelector('.run:last-child').dataset.status === 'completed'`)
	w.says(".run:last-child .recovery", "Recovered after 1 retry")
}
