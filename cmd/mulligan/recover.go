package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/timeline"
)

func newRecover() *cobra.Command {
	var (
		f             common
		action, model string
		asJSON        bool
		plugins       []string
		many          together
	)
	cmd := &cobra.Command{
		Use:   "recover {RUN | --all}",
		Short: "Answer a failed run's suggestion and continue it",
		Long: "A run that failed with a suggestion continues as the same run: every finished tool call and its result\n" +
			"are kept. Without a flag it does what is suggested first. The same answers cut a wait short. RUN may be\n" +
			"the beginning of an id.\n\n" +
			"With --all every open suggestion is answered so, each once, and their runs continue side by side; --action\n" +
			"is then the kind of an action, and those that do not offer it are left alone.",
		Example: `mulligan recover r01j…                        # what is suggested
mulligan recover r01j… --action a2            # the second button
mulligan recover r01j… --model openai/gpt-5.2 # continue with this model
mulligan recover --all --cause overloaded --action switch --dry-run`,
		Args: takes(0, 1),
		RunE: verb(func(cmd *cobra.Command, args []string) error {
			if action != "" && model != "" && action != recovery.ButtonSwitchModel {
				return exit.Usagef("say either --action or --model")
			}
			if many.all == (len(args) == 1) {
				return exit.Usagef("say either which run, or --all; `%s` shows them", f.hint("runs list --needs-you"))
			}
			if many.all {
				many.answering.Action, many.answering.Model = action, model
				return recoverAll(cmd, &f, &many, plugins, asJSON)
			}
			return goOn(cmd, &f, args[0], plugins, asJSON, func(ctx context.Context, r *runner.Runner, id string) (*runner.Run, error) {
				return answer(ctx, r, id, action, model)
			})
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&action, "action", "", "the action's id or kind, for example a1 or retry")
	cmd.Flags().StringVar(&model, "model", "", "switch to this model, one that the run may use")
	registerGoOn(cmd, &plugins, &asJSON)
	many.register(cmd)
	return cmd
}

// answer answers what the run asks.
func answer(ctx context.Context, r *runner.Runner, id, action, model string) (*runner.Run, error) {
	if model != "" {
		if err := config.CheckModel(model); err != nil {
			return nil, exit.Usage(err)
		}
		action = recovery.ButtonSwitchModel
	}
	if action == "" {
		state, err := r.Inspect(ctx, id)
		if err != nil {
			return nil, err
		}
		if action = primaryAction(state); action == "" && state.SuggestionOpen() {
			return nil, exit.Usagef("run %s: nothing is suggested that could be done from here; choose with --action: %s", id, choicesOf(state.Suggestion.Actions))
		}
	}
	run, err := r.Recover(ctx, id, runner.Answer{Action: action, Model: model})
	if errors.Is(err, recovery.ErrNoSuchAction) {
		return nil, exit.Usage(err)
	}
	return run, err
}

// choicesOf lists the actions that --action accepts.
func choicesOf(buttons []recovery.Button) string {
	var names []string
	for _, b := range buttons {
		if b.Effect == recovery.EffectRunner {
			names = append(names, b.ID+" ("+terminal.OneLine(b.Label)+")")
		}
	}
	return strings.Join(names, ", ")
}

// primaryAction is the suggested button, or the first that a runner can do and that
// continues the run; "" if there is none.
func primaryAction(run *recovery.Run) string {
	var buttons []recovery.Button
	switch {
	case run.Wait != nil:
		buttons = run.Wait.Actions
	case run.Suggestion != nil:
		buttons = run.Suggestion.Actions
	}
	first := ""
	for _, b := range buttons {
		if b.Effect != recovery.EffectRunner {
			continue
		}
		if b.Primary {
			return b.ID
		}
		if first == "" && b.Kind != recovery.ButtonStop {
			first = b.ID
		}
	}
	return first
}

// registerGoOn registers the flags shared by the verbs that continue a run.
func registerGoOn(cmd *cobra.Command, plugins *[]string, asJSON *bool) {
	cmd.Flags().StringArrayVar(plugins, "plugin", nil, "as the run was given it (repeatable); none = no plugin at all")
	registerMCP(cmd)
	cmd.Flags().BoolVar(asJSON, "json", false, "print events as JSON lines")
}

// goOn opens an existing run, continues it with do, and shows it to its end.
func goOn(cmd *cobra.Command, f *common, id string, plugins []string, asJSON bool, do func(context.Context, *runner.Runner, string) (*runner.Run, error)) error {
	a, err := f.open(cmd)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.Config.AddPlugins(plugins); err != nil {
		return exit.Usage(err)
	}
	if err := a.addMCP(cmd.Flags()); err != nil {
		return err
	}
	models, err := server.NewModels(a.Config)
	if err != nil {
		return exit.Usage(err)
	}
	models.Calm = true
	defer models.Close()
	tools, err := a.Tools(models)
	if err != nil {
		return err
	}
	ctx, stop := a.releasable(cmd.Context())
	defer stop()
	if id, err = a.runOf(ctx, id); err != nil {
		return err
	}
	state, err := a.fold(ctx, id)
	if err != nil {
		return err
	}
	if err := a.WarmPlugins(ctx); err != nil {
		return interrupted(ctx, err)
	}
	if tools, err = a.MCPTools(ctx, tools, nil); err != nil {
		return interrupted(ctx, err)
	}
	known, err := a.Health(ctx)
	if err != nil {
		return err
	}
	r := a.Runner(models, known, state.Chosen, state.Policy.Models, runner.WithTools(tools...))
	run, err := do(ctx, r, id)
	if err != nil {
		return a.explain(interrupted(ctx, err))
	}
	_, err = a.Screen.Follow(run, state, asJSON, false)
	return err
}

// explain turns a failed answer into words and an exit code.
func (a *app) explain(err error) error {
	owned, ok := errors.AsType[*timeline.OwnedError](err)
	switch {
	case errors.Is(err, runner.ErrSent):
		a.Screen.Line("Another process has the run; it was told and acts.")
		return nil
	case errors.Is(err, recovery.ErrExpired), errors.Is(err, recovery.ErrAnswered), errors.Is(err, recovery.ErrNoSuggestion):
		return &exit.Error{Code: exit.CodeFailed, Err: err}
	case ok:
		return &exit.Error{Code: exit.CodeFailed, Err: fmt.Errorf("another process goes on with run %s: %s. Nothing was done here.\nWhat it does: %s\nTo end the run: %s",
			owned.Run, owned.Owner, a.Screen.Hint("runs show "+owned.Run), a.Screen.Hint("runs cancel "+owned.Run))}
	}
	return a.notFound(err)
}

// fold reads the current state of a run.
func (a *app) fold(ctx context.Context, id string) (*recovery.Run, error) {
	events, err := a.Log.Read(ctx, id, 0, 0)
	if err != nil {
		return nil, a.notFound(err)
	}
	return recovery.Fold(events)
}
