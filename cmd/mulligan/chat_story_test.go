package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/needs"
	"github.com/mulligan-run/mulligan/show"
)

// pane is a terminal in which the program runs.
type pane struct {
	*home
	socket string
	pid    string // the file with the program's process id
}

// signals sends the program a signal.
func (p *pane) signals(s syscall.Signal) {
	p.Helper()
	text, err := os.ReadFile(p.pid)
	if err != nil {
		p.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		p.Fatal(err)
	}
	if err := syscall.Kill(pid, s); err != nil {
		p.Fatal(err)
	}
}

// dumpIfFailed has a program that does not end, although the test waits for that, print its goroutines.
func (p *pane) dumpIfFailed() {
	if p.Failed() {
		p.signals(syscall.SIGQUIT)
		time.Sleep(time.Second)
		p.Log(p.tmux("capture-pane", "-p", "-S", "-4000"))
	}
}

// inTerminal runs the program in a terminal of that size.
func (h *home) inTerminal(columns, rows int, args ...string) *pane {
	h.Helper()
	program, err := exec.LookPath("mulligan")
	if err != nil {
		h.Fatal(err)
	}
	p := h.pane()
	command := `sh -c 'echo $$ >"$0"; exec "$@"' ` + show.ShellQuote(p.pid) + " " + show.ShellQuote(program)
	for _, arg := range args {
		command += " " + show.ShellQuote(arg)
	}
	p.begins(columns, rows, command+`; echo "left with $?"; read _`)
	return p
}

// pane is a terminal that has not begun.
func (h *home) pane() *pane {
	h.Helper()
	needs.Programs(h, "a terminal", "tmux")
	folder, err := os.MkdirTemp("", "") // short, for a socket
	if err != nil {
		h.Fatal(err)
	}
	p := &pane{home: h, socket: filepath.Join(folder, "tmux"), pid: filepath.Join(folder, "pid")}
	h.Cleanup(func() {
		_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() // it may have ended
		_ = os.RemoveAll(folder)
	})
	return p
}

// begins runs a command of the shell in the terminal.
func (p *pane) begins(columns, rows int, command string) {
	p.Helper()
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), command)
}

// tmux runs a command of tmux, also while the test is cleaned up, when its context is over.
func (p *pane) tmux(args ...string) string {
	p.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clip(p.env), "TERM=xterm-256color", "SHELL=/bin/sh", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// types types text; keys presses keys by tmux's names.
func (p *pane) types(text string) { p.tmux("send-keys", "-l", text) }

func (p *pane) keys(names ...string) {
	p.tmux(append([]string{"send-keys"}, names...)...)
}

func (p *pane) screen() string { return p.tmux("capture-pane", "-p") }

// shows waits until the screen has every text.
func (p *pane) shows(texts ...string) {
	p.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		screen, missing := p.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("not in 30 s: %q\n%s", missing, screen)
		}
	}
}

// gone waits until the screen no longer has a text.
func (p *pane) gone(text string) {
	p.Helper()
	for deadline := time.Now().Add(30 * time.Second); strings.Contains(p.screen(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("still there after 30 s: %q\n%s", text, p.screen())
		}
	}
}

// leaves ends a chat as a person does.
func (p *pane) leaves() {
	p.Helper()
	p.keys("C-c")
	p.shows("Press Ctrl-C again to leave")
	p.keys("C-c")
	p.shows("Go on with this conversation", "left with 0")
}

// TestChat: a failure, its suggestion, a number key, the answer; and the conversation is shown
// again when it is continued.
func TestChat(t *testing.T) {
	t.Parallel()
	h := newHome(t, "503, answer:It is **fine** now., answer:Sure.")
	p := h.inTerminal(80, 24, "chat", "--session", "oslo")
	p.shows("Write a message", "fable/one", "auto-recover off")
	p.types("Is it fine?")
	p.keys("Enter")
	p.shows("❯ Is it fine?", "is having problems", "[1] Retry", "[2] Stop")
	h.asked(1)
	p.types("1")
	p.shows("Enter chooses: Retry")
	p.keys("Enter")
	p.shows("You chose: Retry", "✓ Recovered after 1 retry", "It is **fine** now.")
	h.asked(2)
	p.leaves()
	again := h.inTerminal(40, 24, "chat", "--session", "oslo")
	again.shows("❯ Is it fine?", "Recovered after 1 retry", "fine")
	again.types("Sure?")
	again.keys("Enter")
	again.shows("❯ Sure?", "Sure.")
	again.leaves()
	h.asked(3)
}

// TestChatStops: Esc stops a run in mid-answer, and what was said stays.
func TestChatStops(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, answer:All good.")
	p := h.inTerminal(80, 24, "chat")
	p.shows("Write a message")
	p.types("hi")
	p.keys("Enter")
	p.shows("Hello wor", "Esc stops")
	p.keys("Escape")
	p.shows("Hello wor", "■ Stopped. The text above is kept.")
	p.types("/retry")
	p.keys("Enter")
	p.shows("All good.")
	p.leaves()
}

// TestChatInterrupted: Ctrl-C stops the answer as well, and the chat stays open.
func TestChatInterrupted(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, answer:All good.")
	p := h.inTerminal(80, 24, "chat")
	p.shows("Write a message")
	p.types("hi")
	p.keys("Enter")
	p.shows("Hello wor", "Esc stops")
	p.keys("C-c")
	p.shows("Hello wor", "■ Stopped. The text above is kept.")
	p.types("And now?")
	p.keys("Enter")
	p.shows("All good.")
	p.leaves()
}

// TestTerminalsEndBySignals: a signal ends what fills the terminal, and leaves the terminal as it was.
func TestTerminalsEndBySignals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ verb, shown, left string }{{"chat", "Write a message", "left with 143"}, {"top", "q leave", "left with 0"}} {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
			t.Run(c.verb+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				p := newHome(t, "").inTerminal(80, 24, c.verb)
				p.shows(c.shown)
				p.signals(s)
				t.Cleanup(p.dumpIfFailed)
				p.shows(c.left)
			})
		}
	}
}

// TestAnErrorAsksTheTerminalNothing: its answer would take away what is typed meanwhile, and a verb
// would wait for it.
func TestAnErrorAsksTheTerminalNothing(t *testing.T) {
	t.Parallel()
	p := newHome(t, "").pane()
	p.begins(80, 24, `read _; mulligan runs show nope; echo "left with $?"; read _`)
	written := filepath.Join(p.dir, "written")
	p.tmux("pipe-pane", "cat >"+show.ShellQuote(written))
	p.keys("Enter")
	p.shows("nope", "left with 2")
	p.tmux("pipe-pane")
	text, err := os.ReadFile(written)
	if err != nil || !strings.Contains(string(text), "nope") || strings.Contains(string(text), "\x1b") {
		t.Errorf("it wrote %q, %v", text, err)
	}
}

// TestChatOverARestart: a chat that talks to a gateway sees it go and come back, and the
// answer arrives once.
func TestChatOverARestart(t *testing.T) {
	t.Parallel()
	h := newHome(t, "stall:Hello wor, answer:All good.")
	address := freeAddress(t)
	first := h.serve("--listen", address)
	first.prints("listening")
	p := h.inTerminal(80, 24, "chat", "--connect", "http://"+address, "--auto-recover")
	p.shows("fable/one", "auto-recover on")
	p.types("hi")
	p.keys("Enter")
	p.shows("Hello wor")
	first.stop()
	p.shows("The gateway does not answer. Trying again…")
	second := h.serve("--listen", address)
	second.prints("listening")
	p.shows("All good.")
	if n := strings.Count(p.screen(), "All good."); n != 1 {
		t.Errorf("the answer is shown %d times:\n%s", n, p.screen())
	}
	p.leaves()
	second.stop()
	h.asked(2)
}

// freeAddress is an address of this machine on which nobody listens at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// TestRunAsks: in a terminal, run asks what to do and goes on.
func TestRunAsks(t *testing.T) {
	t.Parallel()
	h := newHome(t, "503, 503, answer:All good.")
	p := h.inTerminal(80, 24, "run", "hi")
	p.shows("1) Retry", "2) Stop", "Choose 1–2, or q to leave it open [1]:")
	p.types("7")
	p.keys("Enter")
	p.shows(`"7" is none of them`)
	p.keys("Enter")
	p.shows("You chose: Retry")
	p.types("1")
	p.keys("Enter")
	p.shows("All good.", "left with 0")
	h.asked(3)
}

// TestRunLeavesOpen: what is not chosen stays open.
func TestRunLeavesOpen(t *testing.T) {
	t.Parallel()
	h := newHome(t, "503, answer:All good.")
	p := h.inTerminal(80, 24, "run", "hi")
	p.shows("Choose 1–2")
	p.types("q")
	p.keys("Enter")
	p.shows("It stays open", "recover r", fmt.Sprintf("left with %d", exit.CodeSuggestion))
}

// TestChatNeedsATerminal: without a terminal it names the commands that need none.
func TestChatNeedsATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, "answer:Never asked.")
	h.mulligan(exit.CodeUsage, "chat")
	h.asked(0)
}

func TestTokenIsNotSentInClear(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://127.0.0.1:8484": true, "http://localhost:1": true, "http://[::1]:8484": true, "https://box.example": true,
		"http://box.example": false, "http://192.168.1.2:8484": false, "127.0.0.1:8484": false, "": false, "ftp://127.0.0.1": false,
	} {
		if err := checkGateway(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestJSONDoesNotSteerTheTerminal: what a model wrote is escaped on a terminal and unchanged in a
// pipe.
func TestJSONDoesNotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	const said = "\u009b2J\u202eever"
	h := newHome(t, "answer:"+said)
	p := h.inTerminal(120, 60, "run", "--json", "hi")
	p.shows(`\u009b2J\u202eever`, "left with 0")
	run := strings.TrimSpace(h.mulligan(0, "runs", "list", "--json", "--limit", "1"))
	run = run[strings.Index(run, `"run":"`)+len(`"run":"`):]
	run, _, _ = strings.Cut(run, `"`)
	for _, args := range [][]string{{"runs", "events", run}, {"runs", "export", run}} {
		if out := h.mulligan(0, args...); !strings.Contains(out, said) {
			t.Errorf("%v in a pipe:\n%s", args, out)
		}
		h.inTerminal(120, 60, args...).shows(`\u009b2J\u202eever`, "left with 0")
	}
}

// TestTablesFitTheTerminal: a row is a line, and what it shows of a run's id names the run.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t, "answer:One., answer:Two.")
	h.mulligan(0, "run", "--session", "a-conversation-with-a-name", strings.Repeat("a long prompt ", 20))
	h.mulligan(0, "run", "hi")
	for _, args := range [][]string{{"runs", "list"}, {"sessions", "list"}} {
		p := h.inTerminal(80, 24, args...)
		p.shows("left with 0", "MODEL")
		rows := strings.Split(strings.TrimRight(p.screen(), "\n"), "\n")
		if len(rows) > 4 {
			t.Errorf("%v takes %d lines:\n%s", args, len(rows), p.screen())
		}
		if args[0] == "runs" {
			run, _, _ := strings.Cut(rows[2], " ")
			if out := h.mulligan(0, "runs", "show", run); !strings.Contains(out, "a long prompt") {
				t.Errorf("%q is shown, and is\n%s", run, out)
			}
		}
	}
}

// TestRunDrawsMarkdown: on a terminal; what was said before a failure is shown, too, and a pipe
// gets what the model wrote.
func TestRunDrawsMarkdown(t *testing.T) {
	t.Parallel()
	const said = "# Weather\n\n- rain\n- sun\n"
	h := newHome(t, fmt.Sprintf("cut:%q, answer:%q, answer:%q", "- snow", said, said))
	p := h.inTerminal(80, 24, "run", "--auto-recover", "hi")
	p.shows("• snow", "discarded", "# Weather", "• rain", "• sun", "left with 0")
	if out := h.mulligan(0, "run", "hi"); out != said && out != said+"\n" {
		t.Errorf("in a pipe: %q", out)
	}
}
