package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
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
		Args: cobra.MinimumNArgs(1),
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

// runID is the form of a run's id, or of so much of its beginning as is no other word.
var runID = regexp.MustCompile(`^r0[0-9a-hjkmnp-tv-z]{8,25}$`)

func (f *replayFlags) replay(cmd *cobra.Command, a *app, args []string) error {
	command, ids := args, []string(nil)
	for len(command) > 0 && runID.MatchString(command[len(command)-1]) {
		ids = append([]string{command[len(command)-1]}, ids...)
		command = command[:len(command)-1]
	}
	runs, err := f.source(cmd, a, ids)
	if err != nil {
		return err
	}
	entry, err := a.config.standIn(f.name, command)
	if err != nil {
		return usage(err)
	}
	ctx, stop := a.interruptible(cmd.Context())
	defer stop()
	state, err := os.MkdirTemp("", "mulligan-replay-")
	if err != nil {
		return err
	}
	defer func() {
		if a.plugins != nil { // they are gone before their state is
			_ = a.plugins.Close()
			a.plugins = nil
		}
		_ = os.RemoveAll(state)
	}()
	ask, err := a.asker(ctx, entry, state)
	if err != nil {
		return interrupted(ctx, err)
	}
	r := &replay{screen: &screen{out: a.screen.out, err: a.screen.out, ink: wantsColour(a.screen.liveOut)}, plugin: entry.Name, beside: a.config.beside(entry.Name), named: f.file != "" || len(ids) > 0, json: f.json, ask: ask}
	for events, err := range runs {
		if err == nil {
			err = r.run(ctx, events)
		}
		if err != nil {
			return interrupted(ctx, err)
		}
	}
	return r.conclude()
}

// standIn is the plugin that a command line means: a configured or builtin one by its
// name, or a command with the settings of the configured one that it stands in for.
func (c *config) standIn(name string, command []string) (pluginEntry, error) {
	if len(command) == 0 {
		return pluginEntry{}, errors.New("which plugin? Give its name in the config, or its command")
	}
	find := func(name string) (pluginEntry, bool) {
		for _, p := range c.plugins() {
			if p.Name == name {
				return p, true
			}
		}
		return pluginEntry{Name: name}, builtins[name] != nil
	}
	if p, ok := find(command[0]); ok && len(command) == 1 && (name == "" || name == p.Name) {
		return p, nil
	}
	if name == "" {
		name = nameOfProgram(command[0])
	}
	p, _ := find(name)
	p.Name, p.Command, p.Address, p.TLS = name, command, "", nil
	if problem := pluginProblem([]pluginEntry{p}); problem != nil {
		return p, errors.New(problem.text)
	}
	return p, nil
}

// shortPause is how long a replayed plugin that fails is left alone: each failure is
// judged for itself.
const shortPause = 100 * time.Millisecond

// beside are the other plugins of the configuration that are counted.
func (c *config) beside(name string) []string {
	var names []string
	for _, p := range c.plugins() {
		if p.Name != name && !p.Shadow {
			names = append(names, p.Name)
		}
	}
	return names
}

// rehearsal is how a plugin runs where nothing comes of its answers: without what it was
// given or granted, and with a state folder that is nobody's.
func (a *app) rehearsal(p pluginEntry, state string) (host.Spec, error) {
	if err := a.openLock(); err != nil {
		return host.Spec{}, err
	}
	p.Env, p.Transcript = nil, ""
	spec, err := pluginSpec(p, os.Getenv)
	if err != nil || p.isRemote() {
		return spec, err
	}
	spec.Env = []string{"XDG_STATE_HOME=" + state, "MULLIGAN_DRY_RUN=1"}
	if p.hasFolder() && a.config.has(p) {
		spec.Pin = a.lock.Plugins[p.Name].SHA256
	}
	return spec, nil
}

// asker starts a plugin and gives what asks it.
func (a *app) asker(ctx context.Context, entry pluginEntry, state string) (func(context.Context, hooks.RunError) recovery.Vote, error) {
	spec, err := a.rehearsal(entry, state)
	if err != nil {
		return nil, err
	}
	spec.Restart = host.RestartPolicy{Max: maxRestarts, First: shortPause, Most: shortPause}
	spec.Breaker = host.BreakerPolicy{After: maxBreakAfter, Open: shortPause, Most: shortPause}
	a.plugins = host.New(host.WithLogger(a.logger()))
	if err := a.plugins.Add(spec); err != nil {
		return nil, err
	}
	if err := a.plugins.Start(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context, e hooks.RunError) (vote recovery.Vote) {
		e.DryRun = true
		hooks.Dispatch(ctx, a.plugins.Hooks(), e, hooks.Deadlines{Each: entry.deadline()}, func(v recovery.Vote) { vote = v })
		return vote
	}, nil
}

// source gives the events of every run that is meant, run by run.
func (f *replayFlags) source(cmd *cobra.Command, a *app, ids []string) (runSource, error) {
	switch {
	case f.file != "" && (len(ids) > 0 || cmd.Flags().Changed("since")):
		return nil, usagef("--file goes neither with runs nor with --since: all that is in the file is meant")
	case f.file == "-":
		return eventsIn(cmd.InOrStdin()), nil
	case f.file != "":
		return eventsInFile(f.file), nil
	case len(ids) > 0 && cmd.Flags().Changed("since"):
		return nil, usagef("say either which runs or --since")
	}
	age, err := parseAge(f.since)
	if err != nil {
		return nil, usagef("--since: %w", err)
	}
	if err := a.openBy(cmd.Context(), sqlite.OpenReading); err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		return a.eventsOf(cmd.Context(), ids), nil
	}
	return a.eventsSince(cmd.Context(), time.Now().Add(-age)), nil
}

// parseAge reads a duration that may be in days.
func parseAge(text string) (time.Duration, error) {
	const most = 10 * 365
	if n, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(n)
		if err != nil || days < 0 || days > most {
			return 0, fmt.Errorf("%q is not a number of days", text)
		}
		return time.Duration(days) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most*24*time.Hour {
		return 0, fmt.Errorf("%q is not an age: write for example 12h or 7d", text)
	}
	return d, nil
}

// runSource yields the events of one run after the other; an error ends it.
type runSource func(yield func([]recovery.Event, error) bool)

func (a *app) eventsOf(ctx context.Context, ids []string) runSource {
	return func(yield func([]recovery.Event, error) bool) {
		for _, id := range ids {
			id, err := a.runOf(ctx, id)
			if err != nil {
				yield(nil, err)
				return
			}
			events, err := a.log.Read(ctx, id, 0, 0)
			if !yield(events, a.notFound(err)) || err != nil {
				return
			}
		}
	}
}

// eventsSince are those of runs that began after that time, the newest first.
func (a *app) eventsSince(ctx context.Context, since time.Time) runSource {
	return func(yield func([]recovery.Event, error) bool) {
		for query := (timeline.Query{}); ; {
			list, err := a.log.List(ctx, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, s := range list {
				if s.StartedAt.Before(since) {
					return
				}
				events, err := a.log.Read(ctx, s.Run, 0, 0)
				if !yield(events, err) || err != nil {
					return
				}
				query.Before = s.Run
			}
			if len(list) == 0 {
				return
			}
		}
	}
}

// maxEventLine is the most that one line of a file of events may have, in bytes.
const maxEventLine = 64 << 20

func eventsInFile(name string) runSource {
	return func(yield func([]recovery.Event, error) bool) {
		file, err := os.Open(name)
		if err != nil {
			yield(nil, usagef("--file: %w", err))
			return
		}
		defer func() { _ = file.Close() }()
		eventsIn(file)(yield)
	}
}

// eventsIn reads JSON lines as "runs events" and "run --json" write them; runs may
// follow each other.
func eventsIn(in io.Reader) runSource {
	return func(yield func([]recovery.Event, error) bool) {
		var events []recovery.Event
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxEventLine)
		for n := 1; lines.Scan(); n++ {
			e, ok, err := eventIn(lines.Bytes())
			if err != nil {
				yield(nil, usagef("--file: line %d: %w", n, err))
				return
			}
			if !ok {
				continue
			}
			if len(events) > 0 && events[0].Run != e.Run {
				if !yield(events, nil) {
					return
				}
				events = nil
			}
			events = append(events, e)
		}
		if err := lines.Err(); err != nil {
			yield(nil, usagef("--file: %w", err))
			return
		}
		if len(events) > 0 {
			yield(events, nil)
		}
	}
}

// eventIn reads one line; live text, notices, the header of an export and empty lines are
// none.
func eventIn(line []byte) (e recovery.Event, ok bool, err error) {
	if len(strings.TrimSpace(string(line))) == 0 {
		return e, false, nil
	}
	var other struct {
		Delta, Notice json.RawMessage
		Format        string
	}
	if err := json.Unmarshal(line, &other); err != nil {
		return e, false, fmt.Errorf("this is no event: %w", err)
	}
	if other.Delta != nil || other.Notice != nil || other.Format == exportFormat {
		return e, false, nil
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return e, false, err
	}
	return e, true, nil
}
