package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/plugininstall"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/sdk/conformance"
	"github.com/mulligan-run/mulligan/show"
)

const installHelp = `Fetch a plugin into a folder of its own, show what it is and what it asks for, and,
once you agree, test it, pin it, and put it first among the plugins of
mulligan.yaml, whose comments and order stay as they are.

  ./FOLDER        a folder that was built already, with a mulligan-plugin.yaml
  https://…       the same, packed as .tar.gz or .zip; #sha256=… says what it
                  must be
  pypi:NAME       wheels, and a virtual environment of its own
  npm:NAME        a package with its node_modules, whose scripts do not run
  go:MODULE       compiled here, from the path of a package
  cargo:NAME      compiled here, which runs build scripts: you are asked first

All but folders and archives take @VERSION; the newest is taken without.

Nothing of it runs before you have agreed. It is then held to the protocol by what
"plugin test" does, with failures that never were and with MULLIGAN_DRY_RUN=1, and
it must not change its own folder meanwhile. If anything goes wrong, nothing is
left behind. With your agreement it is granted what it asks for: "plugin grant
NAME --revoke" takes that back.

Without a terminal it needs --yes, which agrees to whatever the plugin asks for.
The folder is below the state folder. Whoever shares this mulligan.yaml installs
the plugin on their own machine. docs/install-a-plugin.md says all of it.`

func newPluginInstall() *cobra.Command {
	var (
		f            common
		yes, private bool
		name         string
	)
	cmd := &cobra.Command{
		Use:   "install SOURCE",
		Short: "Fetch a plugin, test it, pin it, and configure it",
		Long:  installHelp,
		Example: `mulligan plugin install ./my-rules
mulligan plugin install pypi:my-rules@1.2.0
mulligan plugin install https://plugins.example.com/my-rules-1.2.0.tar.gz
mulligan plugin remove my-rules`,
		Args: takes(1, 1),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			source, err := plugininstall.ParseSource(args[0])
			if err != nil {
				return err
			}
			if err := cmp.Or(source.Look(), mayAsk(cmd, yes)); err != nil {
				return err
			}
			in, err := a.installer(cmd, yes)
			if err != nil {
				return err
			}
			in.AllowPrivate, in.Known = private, a.known()
			ctx, stop := a.interruptible(cmd.Context())
			defer stop()
			p, err := in.Install(ctx, source, name)
			if err != nil {
				return interrupted(ctx, err)
			}
			a.tellInstalled(in, p)
			return nil
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "agree to what it asks for, unseen: for scripts")
	cmd.Flags().StringVar(&name, "name", "", "the plugin's name here (default: its own)")
	cmd.Flags().BoolVar(&private, "allow-private", false, "an archive may come from an address of a private network")
	return cmd
}

func newPluginRemove() *cobra.Command {
	var f common
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Undo an install: the entry, the pin, the grants, the folder",
		Long: "Take a plugin that was installed out of mulligan.yaml and mulligan.lock, and delete its folder.\n" +
			"What it has kept for itself (MULLIGAN_PLUGIN_STATE) stays. A process that runs it goes on until it ends.",
		Example: "mulligan plugin remove my-rules",
		Args:    takes(1, 1),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			in, err := a.installer(cmd, true)
			if err != nil {
				return err
			}
			if err := in.Remove(args[0]); err != nil {
				return err
			}
			fmt.Fprintf(a.Screen.Out, "Plugin %s is removed: from %s, from the lock, and its folder.\n", args[0], in.Config)
			return nil
		}),
	}
	f.register(cmd)
	return cmd
}

// mayAsk fails if nobody is there to agree.
func mayAsk(cmd *cobra.Command, yes bool) error {
	if !yes && (!show.IsTerminalReader(cmd.InOrStdin()) || !show.IsTerminal(cmd.ErrOrStderr())) {
		return exit.Usagef("there is no terminal to ask you at: --yes agrees to what the plugin asks for")
	}
	return nil
}

// installer installs for the loaded config or, if there is none, creates the user's own.
func (a *app) installer(cmd *cobra.Command, yes bool) (*plugininstall.Installer, error) {
	path := a.Config.Path
	if path == "" {
		usual := config.UsualPaths(os.Getenv)
		path = usual[len(usual)-1]
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Join(a.Dir, "installed"))
	if err != nil {
		return nil, err
	}
	return &plugininstall.Installer{
		Folder: folder, Config: path, Tell: a.Screen.Line, Test: a.examined,
		Agree: func(ctx context.Context, lines []string) error {
			for _, line := range lines {
				a.Screen.Line(line)
			}
			if yes {
				return nil
			}
			return a.agree(ctx, cmd)
		},
	}, nil
}

// errDisagreed says that the person answered no.
var errDisagreed = &exit.Error{Code: exit.CodeFailed, Err: errors.New("not agreed: nothing was changed")}

func (a *app) agree(ctx context.Context, cmd *cobra.Command) error {
	a.Screen.Prompt("Go on? [y/N]: ")
	answer, err := readLine(ctx, cmd.InOrStdin())
	switch strings.ToLower(answer) {
	case "y", "yes":
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errDisagreed
}

// examined tests a plugin against the protocol, and prints only what is wrong.
func (a *app) examined(ctx context.Context, p *plugininstall.Package) error {
	a.Screen.Line("Testing " + p.Name + "…")
	told := &devtools.ExamNote{Screen: show.New(a.Screen.Err, a.Screen.Err), Began: time.Now()}
	passed, failed := 0, 0
	exam := conformance.Exam{Command: conformance.Command{Args: p.Command, Dir: p.Folder}, Deadline: config.AnswerDeadline, Report: func(r conformance.Result) {
		if r.Err == nil {
			passed++
			return
		}
		failed++
		told.Result(r)
	}}
	portrait, err := exam.Hold(ctx)
	switch {
	case err != nil:
		return err
	case failed > 0:
		return fmt.Errorf("plugin %s does not pass its test (%d failed, %d passed): nothing was installed", p.Name, failed, passed)
	case p.Version == "":
		p.Version = terminal.OneLine(portrait.Version)
	}
	a.Screen.Line(fmt.Sprintf("Tested: %d passed.", passed))
	return nil
}

func (a *app) tellInstalled(in *plugininstall.Installer, p *plugininstall.Package) {
	fmt.Fprintf(a.Screen.Out, "Plugin %s is installed, pinned, and asked first: %s\n", p.Name, in.Config)
	for _, variable := range p.Manifest.Env {
		if _, set := os.LookupEnv(variable); !set {
			a.Screen.Line(a.Screen.Ink.Amber("! ") + variable + " is not set here.")
		}
	}
	fmt.Fprintf(a.Screen.Out, "  what it would decide   %s\n", a.Screen.Hint("plugin replay "+p.Name))
	fmt.Fprintf(a.Screen.Out, "  to undo it             %s\n", a.Screen.Hint("plugin remove "+p.Name))
}
