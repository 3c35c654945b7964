package main

import (
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/timeline"
)

// replayFlags are the flags of plugin replay.
type replayFlags struct {
	common
	name, since, file string
	json              bool
}

const replayHelp = `Ask a plugin about failures that were recorded, and compare what is decided with
its vote with what was decided then. Nothing is written, and no model is asked.

The plugin is one of the config by its name, or a command. It stands in for the
plugin of its name (--name, or the program's) with that one's settings: its vote
takes the other's place, and what the others said then counts as it did. A
plugin that a run did not have is heard first.

It is a dry run, and the event says so: the plugin has no variable that it was
granted or configured with and no transcript, and its state folder
(XDG_STATE_HOME) is an empty one that is thrown away.

Every failure is judged for itself, as it happened: what would have come after
another decision, nobody knows. Failures of runs that had other plugins beside
this one are counted apart and, unless you named their runs, change no exit code.

The failures are those of the last seven days (--since), of the runs whose ids
follow the command, or of a file that "mulligan runs events" wrote (--file; - is
stdin), for example in a continuous build. A command that has flags follows --.

Exit codes: 0 all the same but for their delay, 1 something is different or the
plugin gave no answer, 2 wrong usage.`

func newPluginReplay() *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay NAME|CMD… [RUN…]",
		Short: "Ask a plugin about recorded failures, and compare",
		Long:  replayHelp,
		Example: `mulligan plugin replay ./my-plugin
mulligan plugin replay auto-recover r01j…
mulligan plugin replay --since 30d --name mine -- python3 my_plugin.py --strict
mulligan plugin replay ./my-plugin --file testdata/run.jsonl`,
		Args: takes(1, anyNumber),
		RunE: f.loaded(func(cmd *cobra.Command, a *app, args []string) error {
			return f.replay(cmd, a, args)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "the configured plugin that it stands in for")
	cmd.Flags().StringVar(&f.since, "since", "7d", "how old a run may be, for example 12h or 30d")
	cmd.Flags().StringVar(&f.file, "file", "", "a run's events as JSON lines, - for stdin")
	cmd.Flags().BoolVar(&f.json, "json", false, "a JSON line for every failure, and one for all")
	return cmd
}

// runID is the form of a run's id, or of a beginning long enough not to be another
// word.
var runID = regexp.MustCompile(`^r0[0-9a-hjkmnp-tv-z]{8,25}$`)

func (f *replayFlags) replay(cmd *cobra.Command, a *app, args []string) error {
	command, ids := args, []string(nil)
	for len(command) > 0 && runID.MatchString(command[len(command)-1]) {
		ids = append([]string{command[len(command)-1]}, ids...)
		command = command[:len(command)-1]
	}
	entry, err := devtools.StandIn(a.Config, f.name, command)
	if err != nil {
		return exit.Usage(err)
	}
	runs, err := f.source(cmd, a, ids)
	if err != nil {
		return err
	}
	ctx, stop := a.interruptible(cmd.Context())
	defer stop()
	state, err := os.MkdirTemp("", "mulligan-replay-")
	if err != nil {
		return err
	}
	defer func() {
		if a.Plugins != nil { // plugins must end before their state is removed
			_ = a.Plugins.Close()
			a.Plugins = nil
		}
		_ = os.RemoveAll(state)
	}()
	ask, err := devtools.Asker(ctx, a.Server, entry, state)
	if err != nil {
		return interrupted(ctx, err)
	}
	r := &devtools.Replay{Screen: a.Screen.OnStdout(), Plugin: entry.Name, Beside: devtools.OtherPlugins(a.Config, entry.Name), Named: f.file != "" || len(ids) > 0, JSON: f.json, Ask: ask}
	for events, err := range runs {
		if err == nil {
			err = r.Run(ctx, events)
		}
		if err != nil {
			return interrupted(ctx, err)
		}
	}
	return r.Conclude()
}

// source returns the events of each chosen run, run by run.
func (f *replayFlags) source(cmd *cobra.Command, a *app, ids []string) (devtools.RunSource, error) {
	switch {
	case f.file != "" && (len(ids) > 0 || cmd.Flags().Changed("since")):
		return nil, exit.Usagef("--file goes neither with runs nor with --since: all that is in the file is meant")
	case f.file == "-":
		return devtools.EventsIn(cmd.InOrStdin()), nil
	case f.file != "":
		return devtools.EventsInFile(f.file), nil
	case len(ids) > 0 && cmd.Flags().Changed("since"):
		return nil, exit.Usagef("say either which runs or --since")
	}
	age, err := timeline.ParseAge(f.since)
	if err != nil {
		return nil, exit.Usagef("--since: %w", err)
	}
	if err := a.OpenLogReading(cmd.Context()); err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		ids, err = a.runsOf(cmd.Context(), ids)
		return devtools.EventsOf(cmd.Context(), a.Log, ids), err
	}
	return devtools.EventsSince(cmd.Context(), a.Log, time.Now().Add(-age)), nil
}
