package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/mcp"
	"github.com/mulligan-run/mulligan/telemetry"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// app is what the verbs share: the config, the state, and where to print.
type app struct {
	screen  *screen
	config  *config
	flags   common // as given, for hints
	dir     string
	log     timeline.Log
	plugins *host.Host // nil until they are needed, and if there are none
	lock    *lock      // nil until plugins are needed
	warming sync.WaitGroup
	drives  *runner.Runner // nil until runs are driven
	leaving atomic.Bool    // what was driven is let go of
	mcp     *mcp.Set       // nil until its tools are needed, and if there is no server

	telemetry *telemetry.Telemetry // nil until runs are driven, and if nobody wants to see it

	developed map[string]hooks.Hook // plugins that "plugin dev" answers for
}

// common are the flags of every verb that touches runs.
type common struct {
	config, state string
}

func (c *common) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.config, "config", "", "the config file (default ./mulligan.yaml, then $XDG_CONFIG_HOME/mulligan/mulligan.yaml)")
	cmd.Flags().StringVar(&c.state, "state", "", "the folder that keeps runs (default $XDG_STATE_HOME/mulligan)")
}

// load reads the config and opens nothing yet.
func (c *common) load(cmd *cobra.Command) (*app, error) {
	a := &app{screen: newScreen(cmd.OutOrStdout(), cmd.ErrOrStderr()), flags: *c}
	var err error
	if a.config, err = loadConfig(c.config, os.Getenv); err != nil {
		return nil, err
	}
	if c.state != "" {
		a.config.State = c.state
	}
	if a.dir, err = a.config.stateDir(os.Getenv); err != nil {
		return nil, err
	}
	return a, nil
}

// open loads the config and opens the timeline.
func (c *common) open(cmd *cobra.Command) (*app, error) {
	a, err := c.load(cmd)
	if err != nil {
		return nil, err
	}
	return a, a.openLog(cmd.Context())
}

// read is open for what does not write: a timeline that cannot be written to will do.
func (c *common) read(cmd *cobra.Command) (*app, error) {
	a, err := c.load(cmd)
	if err != nil {
		return nil, err
	}
	return a, a.openBy(cmd.Context(), sqlite.OpenReading)
}

// loaded is verb for a command that needs the configuration.
func (c *common) loaded(do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return withApp(c.load, do)
}

// opened is verb for a command that needs the timeline as well.
func (c *common) opened(do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return withApp(c.open, do)
}

// reading is verb for a command that needs the timeline, and writes nothing.
func (c *common) reading(do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return withApp(c.read, do)
}

func withApp(get func(*cobra.Command) (*app, error), do func(*cobra.Command, *app, []string) error) func(*cobra.Command, []string) error {
	return verb(func(cmd *cobra.Command, args []string) error {
		a, err := get(cmd)
		if err != nil {
			return err
		}
		defer a.close()
		return do(cmd, a, args)
	})
}

func (a *app) openLog(ctx context.Context) error { return a.openBy(ctx, sqlite.Open) }

// openBy opens the timeline. One that could not be opened is nil.
func (a *app) openBy(ctx context.Context, open func(context.Context, string) (*sqlite.Store, error)) error {
	log, err := open(ctx, a.dir)
	if err == nil {
		a.log = log
	}
	return err
}

// close waits for tools that are still ending, stops the servers and plugins and closes the timeline.
func (a *app) close() {
	a.drain()
	a.closeTelemetry()
	a.closeMCP()
	if a.plugins != nil {
		if err := a.plugins.Close(); err != nil {
			a.logger().Warn("plugins", "err", err)
		}
	}
	a.warming.Wait()
	if a.log != nil {
		if err := a.log.Close(); err != nil {
			a.screen.line("mulligan: " + oneLine(err.Error()))
		}
	}
}

// drain gives the tools of a run that was stopped the time that they have to end; less of
// it where the system wants this program to be gone within 10 s.
func (a *app) drain() {
	const unseen, short = 300 * time.Millisecond, 4 * time.Second
	most := 12 * time.Second
	if a.drives == nil {
		return
	}
	if a.leaving.Load() {
		most = short
	}
	ctx, cancel := context.WithTimeout(context.Background(), unseen)
	err := a.drives.Drain(ctx)
	cancel()
	if err == nil {
		return
	}
	a.screen.line("Waiting for a tool to end…")
	ctx, cancel = context.WithTimeout(context.Background(), most)
	defer cancel()
	if a.drives.Drain(ctx) != nil {
		a.screen.line("It did not end; it is left behind.")
	}
}

// healthFile keeps what is known about providers.
func (a *app) healthFile() (*health.Health, error) {
	return health.Open(filepath.Join(a.dir, "health.json"))
}

// runner builds a runner for runs of the given models.
func (a *app) runner(models *models, known runner.Health, model string, fallbacks []string, options ...runner.Option) *runner.Runner {
	all := []runner.Option{
		runner.WithModels(models, model, without(fallbacks, model)...),
		runner.WithAutoRecover(a.config.AutoRecover),
		runner.WithPolicy(a.policy),
		runner.WithDayBudget(a.config.Budget.ofDay()),
		runner.WithLog(a.log),
		runner.WithHealth(known),
		runner.WithLogger(a.logger()),
		runner.WithConnectivity(models),
		runner.WithTimeoutsFor(func(model string, run recovery.Settings) recovery.Timeouts {
			return a.config.timeoutsOf(models, model, run)
		}),
	}
	if a.plugins != nil {
		all = append(all, runner.WithHooks(a.hooks), runner.WithHookDeadlines(a.config.hookDeadlines()))
	}
	if a.telemetry == nil {
		all = append(all, a.observed(context.Background(), false, a.logger())...)
	}
	a.drives = runner.New(append(all, options...)...)
	return a.drives
}

// policy puts the config's limits over the defaults.
func (a *app) policy(p *recovery.Policy) {
	c := a.config
	if c.MaxRetries != nil {
		p.MaxRetries = *c.MaxRetries
	}
	if c.MaxRounds != nil {
		p.MaxRounds = *c.MaxRounds
	}
	if c.Parallel != nil {
		p.ParallelTools = *c.Parallel
	}
	p.StepCountsText = c.StepText
	p.Budget, p.Prices = c.Budget.ofRun(), c.prices()
}

// logger is quiet unless MULLIGAN_DEBUG is set.
func (a *app) logger() *slog.Logger {
	if os.Getenv("MULLIGAN_DEBUG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return logTo(a.screen.err, false, slog.LevelDebug)
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// interruptible gives a context that the first Ctrl-C or SIGTERM ends; the second ends the
// program.
func (a *app) interruptible(ctx context.Context) (context.Context, func()) {
	return a.signalled(ctx, nil)
}

// releasable is interruptible for verbs that drive runs: Ctrl-C cancels them, as a person
// wants it; SIGTERM, by which the system ends programs, only lets go of them.
func (a *app) releasable(ctx context.Context) (context.Context, func()) {
	return a.signalled(ctx, runner.ErrLetGo)
}

// signalled gives a context that signals end, with that cause for SIGTERM.
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
					a.leaving.Store(cause != nil)
				}
				cancel(cause)
				a.screen.line("Stopping… (once more to leave at once)")
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
		return exitTerminated
	}
	return exitCancelled
}

// interrupted turns an error that a signal caused before the run began into its exit code.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, runner.ErrLetGo)) {
		return &exitError{code: stoppedCode(ctx)}
	}
	return err
}

// notFound explains an unknown run.
func (a *app) notFound(err error) error {
	if errors.Is(err, timeline.ErrNotFound) {
		return usage(fmt.Errorf("%w (%s); `%s` lists the runs", err, a.dir, a.hint("runs list")))
	}
	return err
}
