package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
)

func main() { os.Exit(realMain()) }

func realMain() int {
	ownLogs()
	root := newRoot()
	err := fang.Execute(context.Background(), root,
		fang.WithVersion(version()), fang.WithoutManpage(), fang.WithErrorHandler(printError))
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mulligan",
		Short: "Run LLM agents that recover from failed model calls",
		Long: "Mulligan runs an LLM agent and, when a model call fails, asks recovery plugins what to do:\n" +
			"retry, switch to another model, or fail. With --auto-recover it does so itself; without, it\n" +
			"offers what can be done and you choose.",
		Example: `# Watch a run fail and recover, without any key:
mulligan demo

# Ask a real model:
ANTHROPIC_API_KEY=… mulligan run --auto-recover "What is a mulligan?"

# What is configured, and what is missing:
mulligan doctor`,
	}
	root.AddCommand(newRun(), newChat(), newRecover(), newRuns(), newSessions(), newServe(), newLogin(), newPlugin(), newDemo(), newDoctor(), newExplain(), newFaults(), newVersion())
	return root
}

// Exit codes.
const (
	exitFailed     = 1   // the run failed, or the command did
	exitUsage      = 2   // wrong arguments, a bad config, an unknown model
	exitSuggestion = 3   // the run failed and its suggestion is open
	exitCancelled  = 130 // stopped by a person
	exitTerminated = 143 // SIGTERM; what was driven can be resumed
)

// exitError is an error with an exit code of its own. A nil err was printed already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's: exit code 2.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// verb wraps what a command does, so that an error without an exit code gets 1;
// what cobra itself complains about is then the caller's mistake.
func verb(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		if coded := (*exitError)(nil); err == nil || errors.As(err, &coded) {
			return err
		}
		return &exitError{exitFailed, err}
	}
}

func exitCode(err error) int {
	coded := (*exitError)(nil)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.code
	}
	return exitUsage
}

// printError says what went wrong on stderr, unless that was done.
func printError(w io.Writer, _ fang.Styles, err error) {
	coded := (*exitError)(nil)
	if errors.As(err, &coded) && coded.err == nil {
		return
	}
	text := strings.TrimRight(printable(err.Error(), true), "\n")
	fmt.Fprintf(w, "mulligan: %s\n", text)
	if coded == nil {
		fmt.Fprintln(w, "Try --help.")
	}
}
