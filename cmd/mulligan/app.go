package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

// app is what the verbs share: the product, configured by the flags.
type app struct{ *server.Server }

// common are the flags of every verb that touches runs.
type common struct {
	config, state, store string
}

func (c *common) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.config, "config", "", "the config file (default ./mulligan.yaml, then $XDG_CONFIG_HOME/mulligan/mulligan.yaml)")
	cmd.Flags().StringVar(&c.state, "state", "", "the folder that keeps runs (default $XDG_STATE_HOME/mulligan)")
	cmd.Flags().StringVar(&c.store, "store", "", "a database that keeps runs in its place, postgres://user@host/database")
}

// asGiven are the flags as they would be typed.
func (c *common) asGiven() (flags string) {
	if c.state != "" {
		flags += " --state " + show.ShellQuote(c.state)
	}
	if c.store != "" {
		flags += " --store " + show.ShellQuote(server.WithoutPassword(c.store))
	}
	if c.config != "" {
		flags += " --config " + show.ShellQuote(c.config)
	}
	return flags
}

// screen is where a verb prints; the command lines that it suggests end with these
// flags.
func (c *common) screen(cmd *cobra.Command) *show.Screen {
	s := show.New(cmd.OutOrStdout(), cmd.ErrOrStderr())
	s.Flags = c.asGiven()
	return s
}

// hint is a command line with these flags that works when typed.
func (c *common) hint(args string) string { return show.Invoked() + " " + args + c.asGiven() }

// load reads the config, and opens nothing.
func (c *common) load(cmd *cobra.Command) (*app, error) {
	settled, err := config.Load(c.config, os.Getenv)
	if err != nil {
		return nil, err
	}
	if c.state != "" {
		settled.State = c.state
	}
	if c.store != "" {
		if err := settled.SetStore(c.store); err != nil {
			return nil, exit.Usagef("--store: %w", err)
		}
	}
	screen := c.screen(cmd)
	for _, said := range settled.Mistyped(os.Environ()) {
		screen.Line("mulligan: " + said)
	}
	srv, err := server.New(settled, screen)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(srv.Dir); err == nil && !info.IsDir() {
		return nil, exit.Usagef("the state cannot be kept in %s, which is a file: name a folder with --state", srv.Dir)
	}
	return &app{srv}, nil
}

// open loads the config and opens the timeline.
func (c *common) open(cmd *cobra.Command) (*app, error) {
	a, err := c.load(cmd)
	if err != nil {
		return nil, err
	}
	return a, a.OpenLog(cmd.Context())
}

// read is open for verbs that do not write: a read-only timeline is enough.
func (c *common) read(cmd *cobra.Command) (*app, error) {
	a, err := c.load(cmd)
	if err != nil {
		return nil, err
	}
	return a, a.OpenLogReading(cmd.Context())
}

// loaded is verb for a command that needs the configuration.
func (c *common) loaded(do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return withApp(c.load, do)
}

// opened is verb for a command that needs the timeline as well.
func (c *common) opened(do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return withApp(c.open, do)
}

// reading is verb for a command that needs the timeline, but writes nothing.
func (c *common) reading(do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return withApp(c.read, do)
}

func withApp(get func(*cobra.Command) (*app, error), do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return verb(func(cmd *cobra.Command, args []string) error {
		a, err := get(cmd)
		if err != nil {
			return err
		}
		defer a.Close()
		return do(cmd, a, args)
	})
}

// interruptible returns a context that ends at the first Ctrl-C or SIGTERM; the second
// ends the program.
func (a *app) interruptible(ctx context.Context) (context.Context, func()) {
	return a.signalled(ctx, nil)
}

// untilEnded returns a context that ends at a signal that ends a program whose keys a terminal's own
// program reads.
func untilEnded(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// releasable is interruptible for verbs that drive runs: Ctrl-C, pressed by a person,
// cancels them; SIGTERM, sent by the system, only releases them.
func (a *app) releasable(ctx context.Context) (context.Context, func()) {
	return a.signalled(ctx, runner.ErrLetGo)
}

// signalled returns a context that signals end, with the cause terminated for SIGTERM.
func (a *app) signalled(ctx context.Context, terminated error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case s := <-signals:
				if n > 0 {
					os.Exit(stoppedCode(ctx))
				}
				var cause error
				if s == syscall.SIGTERM {
					cause = terminated
					a.LeavesSoon(cause != nil)
				}
				cancel(cause)
				a.Screen.Line("Stopping… (once more to leave at once)")
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// stoppedCode is the exit code of a program whose ctx a signal ended.
func stoppedCode(ctx context.Context) int {
	if errors.Is(context.Cause(ctx), runner.ErrLetGo) {
		return exit.CodeTerminated
	}
	return exit.CodeCancelled
}

// interrupted turns an error that a signal caused before the run began into its exit code.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, runner.ErrLetGo)) {
		return &exit.Error{Code: stoppedCode(ctx)}
	}
	return err
}

// notFound explains an unknown run.
func (a *app) notFound(err error) error {
	if errors.Is(err, timeline.ErrNotFound) {
		return exit.Usage(fmt.Errorf("%w (%s); `%s` lists the runs", err, a.Place(), a.Screen.Hint("runs list")))
	}
	return err
}
