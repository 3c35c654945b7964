package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxPrompt is the most that is read from stdin, in bytes.
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
	settings    recovery.Settings // what timeouts means
}

func newRun() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run [PROMPT | -]",
		Short: "Run a prompt to its answer",
		Long: "Run a prompt, from the argument or from stdin, to its answer. The answer goes to stdout; what else\n" +
			"happens goes to stderr. Where stdout is no terminal it gets the final answer and nothing else.\n\n" +
			"Providers are asked through the proxy of HTTPS_PROXY, where that is set, unless NO_PROXY exempts them.\n\n" +
			"Exit codes: 0 completed, 1 failed, 2 wrong usage or config, 3 failed with something to choose from\n" +
			"(see `mulligan recover`; in a terminal you choose at once), 130 stopped, 143 ended by SIGTERM\n" +
			"(`mulligan runs resume` continues the run).",
		Example: `# With a key in the environment:
ANTHROPIC_API_KEY=… mulligan run "What is a mulligan?"

# Retry by itself, and switch to another model if need be:
mulligan run --auto-recover --fallback openai/gpt-5.2 "Summarise this" < notes.txt

# Give up on a model that is silent for 10 s:
mulligan run --timeout first-event=10s --timeout idle=10s "Hello"

# Continue a conversation:
mulligan run --session oslo "What is the weather there?"
mulligan run --session oslo "And tomorrow?"

# Every event as a line of JSON:
mulligan run --json "Hello"`,
		Args: cobra.MaximumNArgs(1),
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
	flags.BoolVar(&f.autoRecover, "auto-recover", false, "carry decisions out instead of offering them")
	flags.StringArrayVar(&f.plugins, "plugin", nil, pluginUsage)
	flags.StringVar(&f.system, "system", "", "the system prompt")
	flags.BoolVar(&f.json, "json", false, "print events as JSON lines")
	flags.StringArrayVar(&f.tools, "tool", nil, "only this tool of the config's, instead of all (repeatable); none = no tool at all")
	registerMCP(cmd)
	flags.IntVar(&f.maxRetries, "max-retries", 3, "retries of one model call")
	flags.IntVar(&f.maxRounds, "max-rounds", recovery.DefaultPolicy().MaxRounds, "model calls that may ask for tools; 0 = no limit")
	flags.StringVar(&f.tokens, "budget-tokens", "", "the tokens that the run may use (0 = no limit)")
	flags.StringVar(&f.dollars, "budget-dollars", "", "the money that it may use; its models need prices in the config (0 = no limit)")
	flags.StringArrayVar(&f.timeouts, "timeout", nil, timeoutsUsage())
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
	if err := f.amend(cmd.Flags(), a.config); err != nil {
		return usage(err)
	}
	if err := a.config.addMCP(cmd.Flags()); err != nil {
		return err
	}
	models, err := newModels(a.config)
	if err != nil {
		return usage(err)
	}
	defer models.close()
	tools, err := a.offered(f.tools, models)
	if err != nil {
		return err
	}
	if err := models.choose(a.config); err != nil {
		return usage(err)
	}
	if err := checkFor(a.config.Model, f.tools, tools); err != nil {
		return err
	}
	if err := a.config.checkPrices(); err != nil {
		return usage(err)
	}
	return f.start(cmd, a, models, prompt, tools)
}

func (f *runFlags) start(cmd *cobra.Command, a *app, models *models, prompt string, tools []runner.Tool) (err error) {
	if err := a.openLog(cmd.Context()); err != nil {
		return err
	}
	defer a.close()
	ctx, stop := a.releasable(cmd.Context())
	defer stop()
	if err := a.warmPlugins(ctx); err != nil {
		return interrupted(ctx, err)
	}
	if tools, err = a.mcpTools(ctx, tools, f.tools); err != nil {
		return interrupted(ctx, err)
	}
	known, err := a.healthFile()
	if err != nil {
		return err
	}
	if warning := models.warning(ctx, a.config.Model); warning != "" {
		a.screen.line(a.screen.ink.amber("! ") + oneLine(warning))
	}
	r := a.runner(models, known, a.config.Model, a.config.Fallbacks, runner.WithTools(tools...), runner.WithSystem(f.system))
	a.screen.asks = !f.json && a.screen.liveErr && isTerminalReader(cmd.InOrStdin())
	run, err := r.Start(ctx, f.request(cmd.Flags(), a.config, prompt))
	if err != nil {
		return interrupted(ctx, err)
	}
	if a.screen.asks {
		return a.showChoosing(ctx, cmd.InOrStdin(), r, run)
	}
	return a.show(run, f.json)
}

// request says what the flags do, so that a session's defaults count where they say nothing.
func (f *runFlags) request(flags *pflag.FlagSet, c *config, prompt string) runner.Request {
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
func (f *runFlags) amend(flags *pflag.FlagSet, c *config) error {
	if f.model != "" {
		if err := c.setModel(f.model); err != nil {
			return fmt.Errorf("--model: %w", err)
		}
	}
	if flags.Changed("session") {
		if err := timeline.CheckSessionID(f.session); err != nil {
			return fmt.Errorf("--session: %w", err)
		}
	}
	if flags.Changed("fallback") {
		if err := c.setFallbacks(f.fallbacks); err != nil {
			return fmt.Errorf("--fallback: %w", err)
		}
	}
	if flags.Changed("auto-recover") {
		c.AutoRecover = f.autoRecover
	}
	if flags.Changed("max-retries") {
		if err := c.setMaxRetries(itoa(f.maxRetries)); err != nil {
			return fmt.Errorf("--max-retries: %w", err)
		}
	}
	if flags.Changed("max-rounds") {
		if err := setCount(&c.MaxRounds, itoa(f.maxRounds), maxRoundsLimit); err != nil {
			return fmt.Errorf("--max-rounds: %w", err)
		}
	}
	if f.tokens != "" {
		if err := setTokens(&c.Budget.Tokens, f.tokens); err != nil {
			return fmt.Errorf("--budget-tokens: %w", err)
		}
	}
	if f.dollars != "" {
		if err := setDollars(&c.Budget.Dollars, f.dollars); err != nil {
			return fmt.Errorf("--budget-dollars: %w", err)
		}
	}
	var err error
	if f.settings, err = parseTimeouts(f.timeouts); err != nil {
		return err
	}
	return c.addPlugins(f.plugins)
}

// readPrompt takes the prompt from the argument or, for "-" or no argument, from stdin.
func readPrompt(cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		if strings.TrimSpace(args[0]) == "" {
			return "", usage(errors.New("the prompt is empty"))
		}
		return args[0], nil
	}
	if len(args) == 0 && isTerminalReader(cmd.InOrStdin()) {
		return "", usagef("there is no prompt: write it after the command, for example %s run \"Hello\", or send it to stdin", invoked())
	}
	text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxPrompt+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the prompt from stdin: %w", err)
	case len(text) > maxPrompt:
		return "", usagef("the prompt is longer than %d MiB", maxPrompt>>20)
	case strings.TrimSpace(string(text)) == "":
		return "", usage(errors.New("the prompt on stdin is empty"))
	}
	return string(text), nil
}
