package host

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/hooks"
)

// How much of a plugin's own output an error holds, in bytes.
const (
	saidBytes  = 500
	crashBytes = hooks.MaxError
)

// crashError says how a plugin's process ended and what it wrote last. Its text has at
// most 2 KiB and no control characters except newlines.
type crashError struct {
	Plugin  string
	Version string // from Describe; "" if it did not get that far
	PID     int
	Code    int    // exit status; -1 after a signal
	Signal  string // the signal that ended it, such as killed; "" after an exit
	Stderr  string // the last lines, at most 50 and 2 KiB
	Err     error  // the first error that was seen
}

func (e *crashError) Error() string {
	who := "plugin " + printable(e.Plugin, 100)
	if e.Version != "" {
		who += " " + e.Version
	}
	text := fmt.Sprintf("%s ended (%s)", who, e.ending())
	if e.Err != nil {
		text += ": " + printable(plain(e.Err), saidBytes)
	}
	if said := tail(e.Stderr, crashBytes-len(text)-len(itSaid)); said != "" {
		text += itSaid + said
	}
	return text
}

func (e *crashError) Unwrap() error { return e.Err }

func (e *crashError) ending() string {
	if e.Signal != "" {
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

const itSaid = "; it said last: "

// explain adds to err how the process ended, if it did, and what it wrote last.
func (p *process) explain(err error) error {
	soon := pipeGrace / 2
	switch {
	case p.runner.killed.Load() != nil:
		soon = stopGrace // it is certain to end, though later on a busy machine
	case status.Code(err) == codes.Unavailable: // its connection broke, so it has most likely ended
		soon = 2*pipeGrace + pipeGrace/2 // a child of its may hold its pipes open for that long
	}
	if p.runner.pid() > 0 && p.dead(soon) && p.runner.endedByHost() == nil {
		p.runner.settle()
		return p.crash(err)
	}
	text := printable(plain(err), saidBytes)
	if why := p.runner.endedByHost(); p.dead(0) && why != nil && !errors.Is(why, errKilled) {
		text = "the host ended the plugin: " + why.Error()
	}
	if said := p.runner.stderr.tail(saidBytes); said != "" {
		text += itSaid + said
	}
	return &explained{text: text, err: err}
}

// lastWords says how the process ended.
func (p *process) lastWords() error {
	p.runner.settle()
	if why := p.runner.endedByHost(); why != nil {
		return p.crash(why)
	}
	return p.crash(errGone)
}

// crash describes the end of a process that has ended.
func (p *process) crash(err error) *crashError {
	e := &crashError{
		Plugin: p.name, Version: p.version, PID: p.runner.pid(), Stderr: p.runner.stderr.tail(crashBytes), Err: err,
	}
	var exit *exec.ExitError
	if !errors.As(p.runner.process.Err(), &exit) {
		return e
	}
	e.Code = exit.ExitCode()
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.Signal = w.Signal().String()
	}
	return e
}

// plain is an error's text without gRPC's prefix.
func plain(err error) string {
	if s, ok := status.FromError(err); ok {
		return s.Message()
	}
	return err.Error()
}

// explained is an error with a better text.
type explained struct {
	text string
	err  error
	lost bool // the peer went away without answering
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// tail is the end of a text in whole lines, at most n bytes.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n <= len("…") {
		return ""
	}
	return "…" + strings.ToValidUTF8(s[len(s)-n+len("…"):], "")
}
