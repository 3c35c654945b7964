package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/plugininstall"
	"github.com/mulligan-run/mulligan/internal/pluginpublish"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

const publishHelp = `Say what a plugin lacks before others can install it: its manifest, a licence, a
README, one version, what the registry of its language asks for, a program that
"plugin install" can start, and whether it passes its test. At the end stand the
commands that publish it, which are its registry's: nothing is uploaded here.

Exit code 1 if something is missing.`

func newPluginPublish() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:     "publish --check [FOLDER]",
		Short:   "Say what a plugin lacks before others can have it",
		Long:    publishHelp,
		Example: "mulligan plugin publish --check\nmulligan plugin publish --check ./my-rules",
		Args:    takes(0, 1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			if !check {
				return exit.Usagef("a plugin is published by its registry's own command: --check says what it lacks, and which command that is")
			}
			folder, err := filepath.Abs(append(args, ".")[0])
			if err != nil {
				return err
			}
			a := &app{&server.Server{Screen: show.New(cmd.OutOrStdout(), cmd.ErrOrStderr()), Config: &config.Config{}}}
			return a.checkToPublish(cmd, folder)
		}),
	}
	cmd.Flags().BoolVar(&check, "check", false, "look, and upload nothing")
	return cmd
}

func (a *app) checkToPublish(cmd *cobra.Command, folder string) error {
	report, err := pluginpublish.Check(folder)
	if err != nil {
		return exit.Usage(err)
	}
	ctx, stop := a.interruptible(cmd.Context())
	defer stop()
	p, err := plugininstall.Local(folder)
	if err == nil {
		err = a.examined(ctx, p)
	}
	if ctx.Err() != nil {
		return interrupted(ctx, ctx.Err())
	}
	test := pluginpublish.Finding{What: "it passes its test"}
	if err != nil {
		test.Lack = err.Error()
	}
	report.Findings = append(report.Findings, test)
	s := a.Screen.OnStdout()
	for _, f := range report.Findings {
		if f.Lack == "" {
			s.Line(s.Ink.Green("✓ ") + terminal.OneLine(f.What))
		} else {
			s.Line(s.Ink.Red("✗ ") + terminal.OneLine(f.What+": "+f.Lack))
		}
	}
	if lacks := report.Lacks(); lacks > 0 {
		s.Line(show.Plural(lacks, "thing is missing.", "things are missing."))
		return &exit.Error{Code: exit.CodeFailed}
	}
	s.Line("Nothing is missing. It is published by:")
	for _, line := range report.Publish {
		s.Line("  " + terminal.OneLine(line))
	}
	return nil
}
