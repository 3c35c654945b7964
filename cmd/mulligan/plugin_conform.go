package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/sdk/conformance"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

// conformFlags are the flags of plugin test.
type conformFlags struct {
	config, only  string
	env           []string
	deadline      time.Duration
	json, verbose bool
}

const conformHelp = `Hold a plugin to docs/plugin-protocol.md. It is started again and again, as a host
starts it, and must
  · behave as a process: its handshake, TLS and who is refused, health, its end
  · answer failures of every kind, each in four circumstances; what it decides is
    shown, and is right if a host can take it
  · answer about whatever else it offers: before_call, tool_error, run_ended
  · survive what a host may send some day, many calls, and calls that are given up
  · stay within bounds of memory and of what it logs

It is asked about failures that never were; what it does then, it does: give it a
configuration for tests. Flags come before the command, which needs no quotes.

Exit codes: 0 it passed, 1 something failed, 2 wrong usage.`

func newPluginTest() *cobra.Command {
	f := &conformFlags{}
	cmd := &cobra.Command{
		Use:   "test CMD…",
		Short: "Check a plugin in any language against the protocol",
		Long:  conformHelp,
		Example: `mulligan plugin test ./my-plugin
mulligan plugin test --config test.json --env REGION=eu .venv/bin/python plugin.py
mulligan plugin test --only 'failures/rate|shutdown' --verbose node dist/main.js
mulligan plugin test --json ./my-plugin | jq -r 'select(.passed == false) | .name'`,
		Args: takes(1, anyNumber),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			exam, err := f.exam(args)
			if err != nil {
				return err
			}
			a := &app{&server.Server{Screen: show.New(cmd.OutOrStdout(), cmd.ErrOrStderr()), Config: &config.Config{}}}
			ctx, stop := a.interruptible(cmd.Context())
			defer stop()
			return f.hold(ctx, a.Screen, exam)
		}),
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&f.config, "config", "", "the plugin's configuration, a file of JSON")
	cmd.Flags().StringArrayVar(&f.env, "env", nil, "a variable for the plugin: NAME, as it is here, or NAME=VALUE; repeatable")
	cmd.Flags().StringVar(&f.only, "only", "", "only what this regular expression finds in TOPIC/NAME")
	cmd.Flags().DurationVar(&f.deadline, "deadline", config.AnswerDeadline, "how long an answer may take")
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "every answer on a line of its own, with its reason")
	cmd.Flags().BoolVar(&f.json, "json", false, "a JSON line for every result, and one for all")
	return cmd
}

// exam is what the flags and the command ask for.
func (f *conformFlags) exam(args []string) (conformance.Exam, error) {
	exam := conformance.Exam{Command: conformance.Command{Args: args}, Deadline: f.deadline}
	if f.deadline < 10*time.Millisecond || f.deadline > 5*time.Second {
		return exam, exit.Usagef("--deadline is from 10ms to 5s")
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return exam, exit.Usagef("the command cannot be started: %w", err)
	}
	if f.config != "" {
		config, err := yamlfile.Read(f.config)
		if err != nil {
			return exam, exit.Usagef("--config: %w", err)
		}
		if !json.Valid(config) {
			return exam, exit.Usagef("--config: %s is not JSON", f.config)
		}
		exam.Command.Config = config
	}
	for _, variable := range f.env {
		name, value, given := strings.Cut(variable, "=")
		if !given {
			value = os.Getenv(name)
		}
		if name == "" {
			return exam, exit.Usagef("--env %q has no name", variable)
		}
		exam.Command.Env = append(exam.Command.Env, name+"="+value)
	}
	if f.only == "" {
		return exam, nil
	}
	only, err := regexp.Compile(f.only)
	if err != nil {
		return exam, exit.Usagef("--only: %w", err)
	}
	exam.Wanted = func(topic, name string) bool { return only.MatchString(topic + "/" + name) }
	return exam, nil
}

// hold runs the exam and prints how it goes.
func (f *conformFlags) hold(ctx context.Context, s *show.Screen, exam conformance.Exam) error {
	told := &devtools.ExamNote{Screen: s, Verbose: f.verbose, Began: time.Now()}
	exam.Report = told.Result
	if f.json {
		exam.Report = told.Encode
	} else {
		told.Heading(exam.Command.Args)
	}
	portrait, err := exam.Hold(ctx)
	if err != nil {
		return interrupted(ctx, err)
	}
	if told.Passed+told.Failed+told.Skipped == 0 {
		return exit.Usagef("--only %q finds nothing", f.only)
	}
	if f.json {
		err = told.EncodeSummary(portrait)
	} else {
		told.Summary(portrait)
	}
	if err == nil && told.Failed > 0 {
		return &exit.Error{Code: exit.CodeFailed}
	}
	return err
}
