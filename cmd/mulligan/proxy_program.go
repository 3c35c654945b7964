package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/recipe"
)

// Exit codes of shells for a program that cannot be started, or that a signal ended.
const (
	codeNoProgram   = 127
	codeNotRunnable = 126
	codeSignalled   = 128 // plus the signal's number
)

// runProgram runs a program as its recipe says, in place of this one: its exit code becomes ours,
// and signals are passed on to it. The terminal's own signals reach both directly. It says whether
// the program was started.
func runProgram(cmd *cobra.Command, program []string, door recipe.Door) (started bool, err error) {
	dir, err := os.MkdirTemp("", "mulligan-proxy-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // nothing can be done about a failure
	door.Dir = dir
	start, err := recipe.For(program, os.Environ(), door)
	if err != nil {
		return false, exit.Usage(err)
	}
	child := exec.CommandContext(cmd.Context(), start.Program[0], start.Program[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = start.Env
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return false, &exit.Error{Code: codeOfStart(err), Err: fmt.Errorf("start %s: %w", program[0], err)}
	}
	over := make(chan error, 1)
	go func() { over <- child.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM || s == syscall.SIGHUP {
				_ = child.Process.Signal(s) // it may have ended
			}
		case err := <-over:
			return true, codeOfProgram(program[0], err)
		}
	}
}

func codeOfStart(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return codeNoProgram
	}
	return codeNotRunnable
}

// codeOfProgram is a program's exit as an error, nil for success.
func codeOfProgram(name string, err error) error {
	ended := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &ended):
		return &exit.Error{Code: exit.CodeFailed, Err: fmt.Errorf("%s: %w", name, err)}
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &exit.Error{Code: codeSignalled + int(status.Signal())}
	}
	return &exit.Error{Code: ended.ExitCode()}
}
