package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"charm.land/fang/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mulligan-run/mulligan/internal/build"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/manual"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/server"
)

func main() { os.Exit(realMain()) }

func realMain() int {
	server.OwnLogs()
	root := newRoot()
	out, printed := watched(os.Stdout)
	root.SetOut(out)
	err := printed.outcome(execute(context.Background(), root))
	if err != nil {
		printError(os.Stderr, err)
	}
	return exit.Of(err)
}

// execute runs the command that this process was started with. fang draws its help and nothing else:
// of an error, too, it would first ask the terminal for its colours, which takes away what is typed
// meanwhile and waits for an answer that a chat's reader may have got.
func execute(ctx context.Context, root *cobra.Command) (err error) {
	root.Version, root.SilenceUsage, root.SilenceErrors = build.Version(), true, true
	helped := &cobra.Command{Run: func(cmd *cobra.Command, _ []string) {
		draw := cmd.HelpFunc()
		root.SetHelpFunc(func(c *cobra.Command, args []string) {
			manual.Fit(c, columns())
			draw(c, args)
		})
		err = root.ExecuteContext(cmd.Context())
	}}
	helped.SetArgs([]string{})
	if failed := fang.Execute(ctx, helped, fang.WithoutManpage(), fang.WithoutVersion()); failed != nil {
		return failed
	}
	return err
}

// columns is how wide a page of --help may be.
func columns() int {
	const most = 120
	if wide, _, err := term.GetSize(os.Stdout.Fd()); err == nil {
		return min(wide, most)
	}
	return most
}

func newRoot() *cobra.Command {
	var f common
	root := &cobra.Command{
		Use:   "mulligan",
		Short: "Run LLM agents that recover from failed model calls",
		Long: "Mulligan runs an LLM agent and, when a model call fails, asks recovery plugins what to do:\n" +
			"retry, switch to another model, or fail. With --auto-recover it does so itself; without, it\n" +
			"offers what can be done and you choose. Without a verb, at a terminal, it opens its page in your browser.",
		Example: `# Open the page, signed in: it needs no key to show how runs recover
mulligan

# The same in this terminal:
mulligan demo

# Ask a real model:
ANTHROPIC_API_KEY=… mulligan run --auto-recover "What is a mulligan?"

# What is configured, and what is missing:
mulligan doctor`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !f.screen(cmd).LiveOut {
				return cmd.Help()
			}
			return f.opened(open)(cmd, args)
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.AddCommand(newRun(), newChat(), newRecover(), newRuns(), newSessions(), newStore(), newMembers(), newServe(), newProxyVerb(), newLogin(), newPlugin(), newTop(), newProviders(), newDemo(), newDoctor(), newExplain(), newDecide(), newMCP(), newACP(), newFaults(), manual.NewVerb(build.Version()), newVersion())
	return root
}

// verb wraps what a command does: an error without an exit code gets 1. Errors from
// cobra itself are the caller's mistakes.
func verb(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		if coded := (*exit.Error)(nil); err == nil || errors.As(err, &coded) {
			return err
		}
		return &exit.Error{Code: exit.CodeFailed, Err: err}
	}
}

// flagError says of a flag's value, which cannot be read, what it has to be.
func flagError(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	kinds := map[string]string{"bool": "true or false", "int": "a whole number", "float64": "a number", "duration": "a duration such as 30s, 2m or 1h30m"}
	if kind := kinds[wrong.GetFlag().Value.Type()]; kind != "" {
		return fmt.Errorf("--%s: %q is not %s", wrong.GetFlag().Name, wrong.GetValue(), kind)
	}
	return err
}

// printError prints what went wrong on stderr, unless it was printed before.
func printError(w io.Writer, err error) {
	coded := (*exit.Error)(nil)
	if errors.As(err, &coded) && coded.Err == nil {
		return
	}
	text := strings.TrimRight(terminal.Printable(err.Error(), true), "\n")
	fmt.Fprintf(w, "mulligan: %s\n", text)
	if coded == nil {
		fmt.Fprintln(w, "Try --help.")
	}
}
