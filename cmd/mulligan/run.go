package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxPrompt is how much is read from stdin, in bytes.
const maxPrompt = 16 << 20

// runFlags are the flags of run.
type runFlags struct {
	common
	model       string
	session     string
	fallbacks   []string
	autoRecover bool
	plugins     []string
	system      string
	json        bool
	tools       []string
	maxRetries  int
	maxRounds   int
	tokens      string
	dollars     string
	timeouts    []string
	settings    recovery.Settings // the parsed timeouts
}

func newRun() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run [PROMPT | -]",
		Short: "Run a prompt until it is answered",
		Long: "Run a prompt, from the argument or from stdin, until it is answered. The answer goes to stdout and\n" +
			"everything else to stderr. When stdout is not a terminal, it gets the final answer and nothing else.\n\n" +
			"Requests to providers go through HTTPS_PROXY if it is set, unless NO_PROXY exempts them.\n\n" +
			"Exit codes: 0 completed, 1 failed, 2 wrong usage or config, 3 failed with something to choose from\n" +
			"(see `mulligan recover`; in a terminal you choose at once), 130 stopped, 143 ended by SIGTERM\n" +
			"(`mulligan runs resume` continues the run).",
		Example: `# With a key in the environment:
ANTHROPIC_API_KEY=… mulligan run "What is a mulligan?"

# Retry automatically, and switch to another model if needed:
mulligan run --auto-recover --fallback openai/gpt-5.2 "Summarise this" < notes.txt

# Give up on a model that is silent for 10 s:
mulligan run --timeout first-event=10s --timeout idle=10s "Hello"

# Continue a conversation:
mulligan run --session oslo "What is the weather there?"
mulligan run --session oslo "And tomorrow?"

# Every event as a line of JSON:
mulligan run --json "Hello"`,
		Args: takes(0, 1),
		RunE: verb(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) }),
	}
	f.register(cmd)
	return cmd
}

func (f *runFlags) register(cmd *cobra.Command) {
	f.common.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.model, "model", "", "the model, as provider/model")
	flags.StringVar(&f.session, "session", "", "the conversation to continue; a new name begins one")
	flags.StringArrayVar(&f.fallbacks, "fallback", nil, "a model that the run may switch to (repeatable, in order)")
	flags.BoolVar(&f.autoRecover, "auto-recover", false, "recover automatically instead of asking you")
	flags.StringArrayVar(&f.plugins, "plugin", nil, server.PluginUsage)
	flags.StringVar(&f.system, "system", "", "the system prompt")
	flags.BoolVar(&f.json, "json", false, "print events as JSON lines")
	flags.StringArrayVar(&f.tools, "tool", nil, "only this tool of the config's, instead of all (repeatable); none = no tool at all")
	registerMCP(cmd)
	flags.IntVar(&f.maxRetries, "max-retries", 3, "retries of one model call")
	flags.IntVar(&f.maxRounds, "max-rounds", recovery.DefaultPolicy().MaxRounds, "model calls that may ask for tools; 0 = no limit")
	flags.StringVar(&f.tokens, "budget-tokens", "", "the tokens that the run may use (0 = no limit)")
	flags.StringVar(&f.dollars, "budget-dollars", "", "the dollars that the run may spend; its models need prices in the config (0 = no limit)")
	flags.StringArrayVar(&f.timeouts, "timeout", nil, config.TimeoutsUsage())
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	prompt, err := readPrompt(cmd, args)
	if err != nil {
		return err
	}
	a, err := f.load(cmd)
	if err != nil {
		return err
	}
	if err := f.amend(cmd.Flags(), a.Config); err != nil {
		return exit.Usage(err)
	}
	if err := a.addMCP(cmd.Flags()); err != nil {
		return err
	}
	models, err := server.NewModels(a.Config)
	if err != nil {
		return exit.Usage(err)
	}
	defer models.Close()
	tools, err := a.Offered(f.tools, models)
	if err != nil {
		return err
	}
	if err := models.Choose(a.Config); err != nil {
		return exit.Usage(err)
	}
	if err := server.CheckFor(a.Config.Model, f.tools, tools); err != nil {
		return err
	}
	if err := a.Config.CheckPrices(); err != nil {
		return exit.Usage(err)
	}
	return f.start(cmd, a, models, prompt, tools)
}

func (f *runFlags) start(cmd *cobra.Command, a *app, models *server.Models, prompt string, tools []runner.Tool) (err error) {
	if err := a.OpenLog(cmd.Context()); err != nil {
		return err
	}
	defer a.Close()
	ctx, stop := a.releasable(cmd.Context())
	defer stop()
	if err := a.WarmPlugins(ctx); err != nil {
		return interrupted(ctx, err)
	}
	if tools, err = a.MCPTools(ctx, tools, f.tools); err != nil {
		return interrupted(ctx, err)
	}
	known, err := a.Health(ctx)
	if err != nil {
		return err
	}
	if warning := models.Warning(ctx, a.Config.Model); warning != "" {
		a.Screen.Line(a.Screen.Ink.Amber("! ") + terminal.OneLine(warning))
	}
	r := a.Runner(models, known, a.Config.Model, a.Config.Fallbacks, runner.WithTools(tools...), runner.WithSystem(f.system))
	a.Screen.Asks = !f.json && a.Screen.LiveErr && show.IsTerminalReader(cmd.InOrStdin())
	run, err := r.Start(ctx, f.request(cmd.Flags(), a.Config, prompt))
	if err != nil {
		return interrupted(ctx, err)
	}
	if a.Screen.Asks {
		return a.showChoosing(ctx, cmd.InOrStdin(), r, run)
	}
	return a.Screen.Show(run, f.json)
}

// request is what the flags ask for; it leaves the rest to the session's defaults.
func (f *runFlags) request(flags *pflag.FlagSet, c *config.Config, prompt string) runner.Request {
	req := runner.Request{Prompt: prompt, Session: f.session, Timeouts: f.settings}
	if f.model != "" {
		req.Model = c.Model
	}
	if flags.Changed("auto-recover") {
		req.AutoRecover = &f.autoRecover
	}
	return req
}

// amend lets flags override the config.
func (f *runFlags) amend(flags *pflag.FlagSet, c *config.Config) error {
	if f.model != "" {
		if err := c.SetModel(f.model); err != nil {
			return fmt.Errorf("--model: %w", err)
		}
	}
	if flags.Changed("session") {
		if err := timeline.CheckSessionID(f.session); err != nil {
			return fmt.Errorf("--session: %w", err)
		}
	}
	if flags.Changed("fallback") {
		if err := c.SetFallbacks(f.fallbacks); err != nil {
			return fmt.Errorf("--fallback: %w", err)
		}
	}
	if flags.Changed("auto-recover") {
		c.AutoRecover = f.autoRecover
	}
	if flags.Changed("max-retries") {
		if err := c.SetMaxRetries(strconv.Itoa(f.maxRetries)); err != nil {
			return fmt.Errorf("--max-retries: %w", err)
		}
	}
	if flags.Changed("max-rounds") {
		if err := config.SetCount(&c.MaxRounds, strconv.Itoa(f.maxRounds), config.MaxRoundsLimit); err != nil {
			return fmt.Errorf("--max-rounds: %w", err)
		}
	}
	if f.tokens != "" {
		if err := config.SetTokens(&c.Budget.Tokens, f.tokens); err != nil {
			return fmt.Errorf("--budget-tokens: %w", err)
		}
	}
	if f.dollars != "" {
		if err := config.SetDollars(&c.Budget.Dollars, f.dollars); err != nil {
			return fmt.Errorf("--budget-dollars: %w", err)
		}
	}
	var err error
	if f.settings, err = config.ParseTimeouts(f.timeouts); err != nil {
		return err
	}
	return c.AddPlugins(f.plugins)
}

// readPrompt takes the prompt from the argument or, for "-" or no argument, from stdin.
func readPrompt(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		if strings.TrimSpace(args[0]) == "" {
			return "", exit.Usage(errors.New("the prompt is empty"))
		}
		return args[0], nil
	}
	if len(args) == 0 && show.IsTerminalReader(cmd.InOrStdin()) {
		return "", exit.Usagef("there is no prompt: write it after the command, for example %s run \"Hello\", or send it to stdin", show.Invoked())
	}
	text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxPrompt+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the prompt from stdin: %w", err)
	case len(text) > maxPrompt:
		return "", exit.Usagef("the prompt is longer than %d MiB", maxPrompt>>20)
	case strings.TrimSpace(string(text)) == "":
		return "", exit.Usage(errors.New("the prompt on stdin is empty"))
	}
	return string(text), nil
}
