package show

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/charmbracelet/x/term"

	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/tui"
)

// Screen is where a run is shown: the answer on stdout, everything else on stderr. On a terminal
// stderr has one live line below the others.
type Screen struct {
	Out, Err         io.Writer
	LiveOut, LiveErr bool // whether it is a terminal
	Ink              Ink
	width            int
	Asks             bool   // somebody chooses from the offered actions at once
	Flags            string // appended to the command lines that it suggests

	mu     sync.Mutex
	status string // the live line as it is shown
}

// New makes a screen from two streams, and finds out whether they are terminals.
func New(out, err io.Writer) *Screen {
	s := &Screen{Out: out, Err: err, LiveOut: IsTerminal(out), LiveErr: IsTerminal(err), width: 80}
	s.Ink = Colour(s.LiveErr)
	for _, w := range []io.Writer{out, err} {
		if f, ok := w.(*os.File); ok && IsTerminal(w) {
			if columns, _, sizeErr := term.GetSize(f.Fd()); sizeErr == nil && columns > 20 {
				s.width = columns
			}
		}
	}
	return s
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// Print prints text on stdout, without what would steer the terminal.
func (s *Screen) Print(text string) { s.row(terminal.Styled(text)) }

func (s *Screen) row(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(s.Out, text)
}

// markdown prints a whole answer: formatted on a terminal, unchanged in a pipe.
func (s *Screen) markdown(text string) {
	if !s.LiveOut {
		s.Print(text)
		return
	}
	p := tui.NewPrinter(s.width, bool(s.Ink))
	for _, row := range append(p.Add(text), p.End()...) {
		s.row(row)
	}
}

// Line prints text on stderr, without what would steer the terminal.
func (s *Screen) Line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(s.Err, terminal.Styled(text))
}

// Prompt writes a prompt for a line to stderr.
func (s *Screen) Prompt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprint(s.Err, terminal.Styled(text))
}

// Mark sets the live line, if there is one; "" removes it.
func (s *Screen) Mark(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = terminal.OneLine(text)
	if !s.LiveErr || text == s.status {
		return
	}
	s.clear()
	if text != "" {
		if r := []rune(text); len(r) >= s.width {
			text = string(r[:s.width-2]) + "…"
		}
		fmt.Fprint(s.Err, s.Ink.Dim(text))
	}
	s.status = text
}

// End ends an unfinished line.
func (s *Screen) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

func (s *Screen) clear() {
	if s.status != "" {
		fmt.Fprint(s.Err, "\r\x1b[2K")
		s.status = ""
	}
}

// IsTerminalReader reports whether r is a terminal.
func IsTerminalReader(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// OnStdout is a screen on which everything goes to stdout.
func (s *Screen) OnStdout() *Screen {
	return &Screen{Out: s.Out, Err: s.Out, LiveOut: s.LiveOut, Ink: Colour(s.LiveOut), width: s.width, Flags: s.Flags}
}

// Hint is a command line that works when typed.
func (s *Screen) Hint(args string) string { return Invoked() + " " + args + s.Flags }
