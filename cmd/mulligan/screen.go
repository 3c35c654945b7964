package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/charmbracelet/x/term"

	"github.com/mulligan-run/mulligan/tui"
)

// screen is where a run is shown: the answer on stdout, everything else on stderr.
// On a terminal stderr has one live line under the others.
type screen struct {
	out, err         io.Writer
	liveOut, liveErr bool // it is a terminal
	ink              ink
	width            int
	asks             bool // somebody chooses at once from what is offered

	mu     sync.Mutex
	status string // the live line as it is shown
}

func newScreen(out, err io.Writer) *screen {
	s := &screen{out: out, err: err, liveOut: isTerminal(out), liveErr: isTerminal(err), width: 80}
	s.ink = wantsColour(s.liveErr)
	for _, w := range []io.Writer{out, err} {
		if f, ok := w.(*os.File); ok && isTerminal(w) {
			if columns, _, sizeErr := term.GetSize(f.Fd()); sizeErr == nil && columns > 20 {
				s.width = columns
			}
		}
	}
	return s
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// print prints one line on stdout.
func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(s.out, text)
}

// markdown prints a whole answer: drawn on a terminal, as it is in a pipe.
func (s *screen) markdown(text string) {
	if !s.liveOut {
		s.print(printable(text, true))
		return
	}
	p := tui.NewPrinter(s.width, bool(s.ink))
	for _, row := range append(p.Add(text), p.End()...) {
		s.print(row)
	}
}

// line prints one line on stderr.
func (s *screen) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprintln(s.err, text)
}

// prompt asks for a line on stderr.
func (s *screen) prompt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprint(s.err, text)
}

// mark sets the live line, if there is a place for it: "" takes it away.
func (s *screen) mark(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.liveErr || text == s.status {
		return
	}
	s.clear()
	if text != "" {
		if r := []rune(text); len(r) >= s.width {
			text = string(r[:s.width-2]) + "…"
		}
		fmt.Fprint(s.err, s.ink.dim(text))
	}
	s.status = text
}

// end ends what is not ended.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

func (s *screen) clear() {
	if s.status != "" {
		fmt.Fprint(s.err, "\r\x1b[2K")
		s.status = ""
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// isTerminalReader reports whether somebody would have to type.
func isTerminalReader(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}
